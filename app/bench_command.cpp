#include "app/bench_command.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

#include "app/bench_report.h"
#include "app/bench_runs.h"
#include "app/bench_shape.h"
#include "app/device_choice.h"
#include "app/report_file.h"
#include "app/signals.h"
#include "app/stats_report.h"
#include "kernels/filter_chain.h"

namespace framelane {
namespace {

/** So many frames are enough where kernels and copies take their time whatever they hold. */
constexpr int kShapeFrames = 2;

bool stop_asked() { return stop_signal() != 0; }

/** Thread: main. */
class Bench {
 public:
  Bench(const BenchOptions& options, Console& console)
      : options_(options), console_(console), filters_(parse_filter_chain(options.chain)) {
    device_ = create_device(options.device);
    device_->use_in_this_thread();
    warn_of_environment(*device_);
    warn_of_missing_graphs(options.cuda_graphs, *device_);
    spdlog::info("{}", device_text(options.device, *device_));
  }

  int run() {
    if (options_.filters) {
      run_filters();
    } else if (options_.shape) {
      run_shape(*options_.shape);
    } else {
      run_frames();
    }
    return exit_status_of_stop();
  }

 private:
  void run_frames();
  void run_shape(const BenchShape& shape);
  void run_filters();

  BenchSetup setup() const;
  BenchFacts facts(const Device& device) const {
    BenchFacts facts{device.name(), device.backend(), {}, options_.rounds};
    for (const FilterUse& use : filters_) facts.filters.push_back(use.text);
    return facts;
  }
  void check(const BenchSetup& setup) const;
  void show(const std::string& text) const;
  void write_json(const nlohmann::ordered_json& json) const;

  const BenchOptions& options_;
  Console& console_;
  const std::vector<FilterUse> filters_;
  std::shared_ptr<Device> device_;
};

BenchSetup Bench::setup() const {
  BenchSetup setup;
  setup.device = device_;
  setup.filters = filters_;
  setup.modes = options_.modes;
  setup.slots = options_.slots;
  setup.cuda_graphs = options_.cuda_graphs;
  setup.rounds = options_.rounds;
  setup.frames = options_.frames;
  setup.stop = stop_asked;
  if (console_.has_status_line() && console_.options().progress) {
    setup.progress = [this](const std::string& what) { console_.set_status("bench: " + what); };
  }
  return setup;
}

/** Before minutes are spent on the sizes before it: the chain takes each format, and its frames fit into memory. */
void Bench::check(const BenchSetup& setup) const {
  for (const FrameFormat& format : options_.formats) {
    const FilterChain chain(setup.filters, format, device_->backend());
    check_host_memory(describe(format), host_bytes_needed(setup, chain));
  }
}

/** Standard output is the JSON's where that goes there. */
void Bench::show(const std::string& text) const {
  console_.set_status("");
  if (!is_standard_output(options_.json)) write_stdout(text);
}

void Bench::write_json(const nlohmann::ordered_json& json) const {
  if (!options_.json.empty()) write_report(options_.json, json_text(json));
}

void Bench::run_frames() {
  const BenchSetup common = setup();
  check(common);
  std::vector<BenchFrames> all;
  for (const FrameFormat& format : options_.formats) {
    std::optional<BenchFrames> frames = bench_frames(common, format);
    if (!frames) break;
    show((all.empty() ? "" : "\n") + frames_text(facts(*device_), *frames));
    all.push_back(std::move(*frames));
  }
  console_.set_status("");
  if (!all.empty()) write_json(frames_json(facts(*device_), all));
}

void Bench::run_shape(const BenchShape& shape) {
  BenchSetup common = setup();
  const int slots = std::max(std::ranges::max(options_.slots), device_->default_slots());
  if (common.progress) common.progress("how fast copies are");
  const ShapeWorkload workload = shape_workload(shape, device_, slots);
  common.device = workload.device;
  common.filters = workload.filters;
  common.sync_memory = HostMemory::kPinned;
  common.work = {shape.preprocess, shape.kernels};
  const KeptFrames kept = KeptFrames::synthetic(workload.device, workload.format, kShapeFrames);
  auto cases = bench_cases(common, kept, {});
  console_.set_status("");
  if (!cases) return;
  const BenchedShape benched{shape, workload.format, workload.bytes, workload.copies, std::move(*cases)};
  show(shape_text(facts(*workload.device), benched));
  write_json(shape_json(facts(*workload.device), benched));
}

void Bench::run_filters() {
  FilterBenchOptions filters;
  filters.device = device_;
  filters.formats = options_.formats;
  if (!options_.chain.empty()) filters.chains = {options_.chain};
  filters.repetitions = options_.rounds;
  if (console_.has_status_line() && console_.options().progress) console_.set_status("bench: filters, one by one");
  const std::vector<FilterBenchRow> rows = bench_filters(filters, stop_asked);
  console_.set_status("");
  if (rows.empty()) return;
  show(filter_bench_text(rows));
  write_json(filters_json(facts(*device_), rows));
}

}  // namespace

int run_bench(const BenchOptions& options, Console& console) {
  check_reports({{"--json", options.json}}, "", "");
  install_signal_handlers();
  return Bench(options, console).run();
}

}  // namespace framelane
