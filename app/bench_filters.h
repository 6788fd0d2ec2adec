// `framelane bench --filters`: each filter's kernel alone, beside a copy of the same bytes and beside NPP.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/frame.h"
#include "pipeline/device.h"

namespace framelane {

struct FilterBenchOptions {
  std::shared_ptr<Device> device;
  std::vector<FrameFormat> formats;  ///< empty: 4:2:0 of 8 bits, 1080p and 4K on a GPU, 720p and 1080p on the CPU
  /** Each filter of each chain is measured alone. Empty: every filter of the registry with the first of its
   *  conformance settings; and where NPP has nothing for that one, with the first that it has something for. */
  std::vector<std::string> chains;
  int repetitions = 7;  ///< rounds that the medians are taken of, at least 1
};

/** One filter on frames of one format. Times are of one frame, medians over the rounds. */
struct FilterBenchRow {
  std::string filter;        ///< "gblur=sigma=2"
  std::string size;          ///< of the input: "1920x1080"
  std::string pixel_format;  ///< "yuv420p"
  double us = 0;
  double us_min = 0;
  double us_max = 0;
  double gb_per_s = 0;  ///< samples read and written, each once, over `us`
  double copy_us = 0;   ///< a copy within the device that reads and writes as many bytes, both taken together
  double copies = 0;    ///< us / copy_us
  std::optional<double> npp_us;
  std::string npp_function;  ///< empty where npp_us is
};

/** Measures all filters on all formats, some tenths of a second each: on a GPU by events around launches that were all
 * queued beforehand, on the CPU on one core. Filter, copy and NPP take turns, so that a change of clocks meets all
 * alike; frames alternate, so that none is still in a cache. Blocking; leaves the device set for several frames at
 * once. Returns the rows so far when `stop` becomes true (asked before each round). Throws UsageError where a filter
 * does not parse or does not take a format, DeviceError. */
std::vector<FilterBenchRow> bench_filters(const FilterBenchOptions& options, const std::function<bool()>& stop = {});

/** A table, a line a row, and what its columns mean. Ends with a newline. */
std::string filter_bench_text(const std::vector<FilterBenchRow>& rows);

/** An array of objects with FilterBenchRow's names; npp_us and npp_function are null where there is none. */
nlohmann::ordered_json filter_bench_json(const std::vector<FilterBenchRow>& rows);

}  // namespace framelane
