// Makes the page of a report: JSON on standard input, HTML on standard output.
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/report_html.h"

int main() { std::cout << framelane::report_html(nlohmann::ordered_json::parse(std::cin)); }
