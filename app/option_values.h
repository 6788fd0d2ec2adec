// Values on the command line, as ffmpeg's users write them. All throw UsageError that quotes the value and says what
// would do; the caller puts the option's name in front.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "app/console.h"
#include "pipeline/mode.h"
#include "pipeline/pipeline.h"

namespace framelane {

/** Seconds: "90", "1:30", "00:01:30.5", "500ms"; not negative. */
double parse_seconds(const std::string& text);
/** The same, above 0. */
double parse_duration(const std::string& text);
/** A number within [min, max]; ffmpeg's suffixes (k, M, Ki, …) are understood. */
double parse_number(const std::string& text, double min, double max);
std::int64_t parse_integer(const std::string& text, std::int64_t min, std::int64_t max);
/** Bits a second: "2500k", "5M". */
std::int64_t parse_bitrate(const std::string& text);
/** "key=value"; the value may hold further '='. */
std::pair<std::string, std::string> parse_key_value(const std::string& text);
/** "N:mode": from frame N on, that mode. */
std::pair<std::int64_t, Mode> parse_switch(const std::string& text);
OnFull parse_on_full(const std::string& text);
ColorChoice parse_color(const std::string& text);

}  // namespace framelane
