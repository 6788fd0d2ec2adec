#include "app/bench_filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>

#include "app/npp.h"
#include "kernels/filter_chain.h"
#include "kernels/filter_registry.h"
#include "kernels/geometry/plane_copy.h"
#include "pipeline/median.h"

namespace framelane {
namespace {

/** Memory that frames of one format take: on a GPU several times its L2 cache (50 MB on an H200), on the CPU more than
 *  the last-level cache, so that each frame is read from memory as it would be after H2D. */
constexpr std::size_t kCudaFrameBytes = std::size_t{192} << 20;
constexpr std::size_t kCpuFrameBytes = std::size_t{64} << 20;
constexpr std::size_t kMostFrames = 256;

/** A round is long against the events' resolution (0.5 us on a GPU) and the scheduler's tick. On a GPU it is bounded by
 *  the launches that fit in the driver's queue (1024; NPP needs up to four a frame). */
constexpr std::chrono::microseconds kRound{5000};
constexpr int kMostCudaPasses = 250;
constexpr int kMostCpuPasses = 1 << 14;
/** The GPU is held back while a round is queued, for else small kernels wait for their launches. */
constexpr std::chrono::microseconds kHoldPerPass{20};

/** A gradient with noise of an eighth of the range: neither flat nor incoherent, as a look-up table's cache sees it. */
template <typename Sample>
void draw(const PlaneView& plane, int max_code, std::minstd_rand& random) {
  const int noise = max_code / 8;
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x) {
      const std::int64_t ramp = static_cast<std::int64_t>(max_code - noise) * (x + y) / (plane.width + plane.height);
      plane.row<Sample>(y)[x] = static_cast<Sample>(ramp + static_cast<int>(random() % (noise + 1U)));
    }
  }
}

/** Frames of one format in one block of device memory. */
class FrameSet {
 public:
  FrameSet(Device& device, const FrameFormat& format) : format_(format) {
    const std::size_t frame_bytes = (frame_layout(format).bytes + 255) / 256 * 256;
    const std::size_t wanted = device.backend() == Backend::kCuda ? kCudaFrameBytes : kCpuFrameBytes;
    const std::size_t count = std::clamp((wanted + frame_bytes - 1) / frame_bytes, std::size_t{2}, kMostFrames);
    bytes_ = count * frame_bytes;
    memory_ = device.allocate(bytes_);
    for (std::size_t i = 0; i < count; ++i) views_.push_back(view_frame(format, memory_.get() + i * frame_bytes));
  }

  void fill(Device& device) {
    const std::size_t bytes = frame_layout(format_).bytes;
    const MemoryBlock picture = device.allocate_host(bytes, HostMemory::kPageable);
    std::minstd_rand random(1);
    const FrameView view = view_frame(format_, picture.get());
    for (int plane = 0; plane < format_.pixel.plane_count(); ++plane) {
      const auto draw_plane = format_.pixel.bytes_per_sample() == 1 ? draw<std::uint8_t> : draw<std::uint16_t>;
      draw_plane(view.planes[plane], format_.pixel.max_code(), random);
    }
    for (const FrameView& frame : views_) device.copy_blocking_to_device(frame.planes[0].data, picture.get(), bytes);
  }

  const FrameFormat& format() const { return format_; }
  const FrameView& view(std::size_t pass) const { return views_[pass % views_.size()]; }
  std::byte* memory() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  FrameFormat format_;
  MemoryBlock memory_;
  std::size_t bytes_ = 0;
  std::vector<FrameView> views_;
};

/** What a frame's samples take, without padding. */
std::size_t sample_bytes(const FrameFormat& format) {
  std::size_t bytes = 0;
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    bytes += format.row_bytes(plane) * static_cast<std::size_t>(format.plane_height(plane));
  }
  return bytes;
}

/** What `use` has to read and to write: each sample once, and of the input no more samples than the output has where
 *  one makes one (crop). */
std::size_t bytes_to_move(const FilterUse& use, const FrameFormat& input, const FrameFormat& output) {
  const bool one_makes_one = use.descriptor->spatial_radius(use.values) == 0;
  const std::size_t written = sample_bytes(output);
  const std::size_t all = sample_bytes(input);
  return written + (one_makes_one ? std::min(all, written) : all);
}

/** Enqueues one frame's work; called with rising numbers. */
using Work = std::function<void(std::size_t pass)>;

/** A filter over frames in turn, with the memory that it needs of its own. */
Work filter_work(Device& device, Stream& stream, const CompiledFilter& filter, const FrameSet& results,
                 const FrameSet& sources) {
  const MemoryBlock scratch = device.allocate(filter.scratch_bytes() + 1);
  const MemoryBlock state = device.allocate(filter.state_bytes() + 1);
  return [=, &stream, &filter, &results, &sources](std::size_t pass) {
    const FilterArguments arguments{results.view(pass), sources.view(pass), scratch.get(), state.get(),
                                    static_cast<std::int64_t>(pass)};
    stream.run(filter, arguments);
    if (filter.has_ordered_pass()) stream.run_ordered(filter, arguments);
  };
}

/** Copies `bytes` (on a GPU whole rows of them, and at most what either set holds) from the sources' memory to the
 *  results' in turn. On a GPU by the kernel of crop and hflip, which is faster than the driver's copy: 10.1 against
 *  11.1 us for a 4K frame on an H200. */
class Copy {
 public:
  Copy(const Device& device, std::size_t bytes, const FrameSet& results, const FrameSet& sources)
      : results_(results), sources_(sources) {
    const bool cuda = device.backend() == Backend::kCuda;
    const std::size_t room = std::min(sources.bytes(), results.bytes());
    bytes = std::min(bytes, room);
    const std::size_t row_bytes = cuda ? std::min(kCudaRowBytes, bytes) : bytes;
    shape_.pixel = {.model = ColorModel::kGray, .chroma_shift_x = 0, .chroma_shift_y = 0};
    shape_.width = static_cast<int>(row_bytes);
    shape_.height = static_cast<int>(bytes / row_bytes);
    bytes_ = row_bytes * static_cast<std::size_t>(shape_.height);
    places_ = room / bytes_;
    if (cuda) kernel_ = compile_frame_copy({}, shape_, Backend::kCuda);
  }

  void enqueue(Stream& stream, std::size_t pass) const {
    const std::size_t offset = pass % places_ * bytes_;
    const FrameView dst = view_at(results_.memory() + offset);
    const FrameView src = view_at(sources_.memory() + offset);
    if (kernel_) {
      stream.run(*kernel_, {dst, src, nullptr, nullptr, 0});
    } else {
      stream.copy_plane(dst.planes[0], src.planes[0], bytes_);
    }
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kCudaRowBytes = 2048;

  FrameView view_at(std::byte* memory) const {
    FrameView view{shape_, {}};
    view.planes[0] = {memory, shape_.width, shape_.width, shape_.height};
    return view;
  }

  const FrameSet& results_;
  const FrameSet& sources_;
  FrameFormat shape_;
  std::size_t bytes_ = 0;
  std::size_t places_ = 0;
  std::unique_ptr<CompiledFilter> kernel_;  ///< null on the CPU: there it is one memcpy
};

/** One kind of work, timed in rounds of many passes between two events. */
class TimedWork {
 public:
  TimedWork(Device& device, Stream& stream, Work work)
      : stream_(stream),
        cuda_(device.backend() == Backend::kCuda),
        begin_(device.create_timed_event()),
        end_(device.create_timed_event()),
        work_(std::move(work)) {
    run_round();  // loads the kernels' code, touches the memory
    const int most_passes = cuda_ ? kMostCudaPasses : kMostCpuPasses;
    while (run_round() * passes_ < static_cast<double>(kRound.count()) && passes_ < most_passes) {
      passes_ = std::min(2 * passes_, most_passes);
    }
  }

  void add_round() { us_.push_back(run_round()); }
  /** Ascending. */
  std::vector<double> rounds() const {
    std::vector<double> sorted = us_;
    std::ranges::sort(sorted);
    return sorted;
  }
  double median() const { return framelane::median(us_); }

 private:
  /** Microseconds a pass. */
  double run_round() {
    if (cuda_) stream_.delay(passes_ * kHoldPerPass);
    stream_.record(*begin_);
    for (int i = 0; i < passes_; ++i) work_(next_pass_++);
    stream_.record(*end_);
    end_->wait();
    return milliseconds(end_->time() - begin_->time()) * 1000 / passes_;
  }

  Stream& stream_;
  bool cuda_;
  std::unique_ptr<TimedEvent> begin_;
  std::unique_ptr<TimedEvent> end_;
  Work work_;
  int passes_ = 1;
  std::size_t next_pass_ = 0;
  std::vector<double> us_;
};

/** NPP's work, its frames and its name. */
struct NppWork {
  NppCounterpart counterpart;
  FrameSet results;
  TimedWork time;

  NppWork(Device& device, Stream& stream, NppCounterpart found, const FrameSet& sources)
      : counterpart(std::move(found)),
        results(device, counterpart.output),
        time(device, stream, filter_work(device, stream, *counterpart.compiled, results, sources)) {}
};

std::optional<NppCounterpart> npp_counterpart(const Device& device, const FilterUse& use, const FrameFormat& input,
                                              const FrameFormat& output) {
  if constexpr (kHasCuda) {
    if (device.backend() == Backend::kCuda) return find_npp_counterpart(use, input, output);
  }
  return std::nullopt;
}

FilterBenchRow make_row(const FilterUse& use, const FrameFormat& format, const TimedWork& timed) {
  FilterBenchRow row;
  row.filter = use.text;
  row.size = fmt::format("{}x{}", format.width, format.height);
  row.pixel_format = describe(format.pixel);
  row.us = timed.median();
  row.us_min = timed.rounds().front();
  row.us_max = timed.rounds().back();
  return row;
}

/** Nothing when `stop` asked for an end. */
std::optional<FilterBenchRow> bench_filter(Device& device, const FilterUse& use, const FrameSet& sources,
                                           int repetitions, const std::function<bool()>& stop) {
  const FrameFormat& format = sources.format();
  FilterChain chain({use}, format, device.backend());
  const CompiledFilter& compiled = *chain.plan(1).steps.front().filter;
  const FrameSet results(device, chain.output_format());
  const std::size_t bytes = bytes_to_move(use, format, chain.output_format());
  const Copy copy(device, bytes / 2, results, sources);
  const auto stream = device.create_stream(StreamRole::kAllSlots);

  TimedWork filter_time(device, *stream, filter_work(device, *stream, compiled, results, sources));
  TimedWork copy_time(device, *stream, [&](std::size_t pass) { copy.enqueue(*stream, pass); });
  std::optional<NppWork> npp;
  if (auto found = npp_counterpart(device, use, format, chain.output_format())) {
    npp.emplace(device, *stream, std::move(*found), sources);
  }
  for (int i = 0; i < repetitions; ++i) {
    if (stop && stop()) return std::nullopt;
    filter_time.add_round();
    copy_time.add_round();
    if (npp) npp->time.add_round();
  }

  FilterBenchRow row = make_row(use, format, filter_time);
  row.gb_per_s = static_cast<double>(bytes) / row.us / 1000;
  row.copy_us = copy_time.median() * static_cast<double>(bytes) / static_cast<double>(2 * copy.bytes());
  row.copies = row.us / row.copy_us;
  if (npp) {
    row.npp_us = npp->time.median();
    row.npp_function = npp->counterpart.function;
  }
  return row;
}

std::vector<FrameFormat> default_formats(Backend backend) {
  struct Size {
    int width;
    int height;
  };
  const std::vector<Size> sizes = backend == Backend::kCuda ? std::vector<Size>{{1920, 1080}, {3840, 2160}}
                                                            : std::vector<Size>{{1280, 720}, {1920, 1080}};
  std::vector<FrameFormat> formats;
  for (const Size& size : sizes) {
    formats.push_back(
        {.pixel = {}, .width = size.width, .height = size.height, .matrix = guess_matrix(size.width, size.height)});
  }
  return formats;
}

bool npp_knows(const Device& device, const FilterUse& use, const FrameFormat& format) {
  const FilterChain chain({use}, format, device.backend());
  return npp_counterpart(device, use, format, chain.output_format()).has_value();
}

std::vector<FilterUse> every_filter(const Device& device, const FrameFormat& format) {
  std::vector<FilterUse> uses;
  for (const FilterDescriptor* filter : all_filters()) {
    for (const std::string_view setting : filter->conformance_settings) {
      FilterUse use = parse_filter_chain(fmt::format("{}={}", filter->name, setting)).front();
      use.text = setting.empty() ? std::string(filter->name) : use.text;
      const bool first = setting == filter->conformance_settings.front();
      const bool known = npp_knows(device, use, format);
      if (first || known) uses.push_back(std::move(use));
      if (known || device.backend() == Backend::kCpu) break;
    }
  }
  return uses;
}

std::vector<FilterUse> filters_of(const std::vector<std::string>& chains) {
  std::vector<FilterUse> uses;
  for (const std::string& chain : chains) {
    std::ranges::move(parse_filter_chain(chain), std::back_inserter(uses));
  }
  return uses;
}

}  // namespace

std::vector<FilterBenchRow> bench_filters(const FilterBenchOptions& options, const std::function<bool()>& stop) {
  Device& device = *options.device;
  device.use_in_this_thread();
  device.set_concurrent_frames(true);
  const auto formats = options.formats.empty() ? default_formats(device.backend()) : options.formats;
  std::vector<FilterBenchRow> rows;
  for (const FrameFormat& format : formats) {
    FrameSet sources(device, format);
    sources.fill(device);
    for (const FilterUse& use : options.chains.empty() ? every_filter(device, format) : filters_of(options.chains)) {
      const auto row = bench_filter(device, use, sources, options.repetitions, stop);
      if (!row) return rows;
      rows.push_back(*row);
    }
  }
  return rows;
}

std::string filter_bench_text(const std::vector<FilterBenchRow>& rows) {
  std::size_t name_width = 6;
  for (const FilterBenchRow& row : rows) name_width = std::max(name_width, row.filter.size());
  std::string text = fmt::format("{:<{}}  {:>9} {:<10} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7} {:>9} {:>7}  {}\n", "filter",
                                 name_width, "size", "format", "us", "min", "max", "GB/s", "copy us", "copies",
                                 "NPP us", "NPP/us", "NPP function");
  const auto out = std::back_inserter(text);
  for (const FilterBenchRow& row : rows) {
    fmt::format_to(out, "{:<{}}  {:>9} {:<10} {:>9.1f} {:>9.1f} {:>9.1f} {:>7.1f} {:>9.1f} {:>7.2f}", row.filter,
                   name_width, row.size, row.pixel_format, row.us, row.us_min, row.us_max, row.gb_per_s, row.copy_us,
                   row.copies);
    if (row.npp_us) fmt::format_to(out, " {:>9.1f} {:>7.2f}  {}", *row.npp_us, *row.npp_us / row.us, row.npp_function);
    text += '\n';
  }
  text +=
      "us: one frame, median of the rounds; GB/s: input read once, output written once; copies: times as long as a "
      "copy of as many bytes; NPP: NVIDIA's library on the same planes, where it has the same function\n";
  return text;
}

nlohmann::ordered_json filter_bench_json(const std::vector<FilterBenchRow>& rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const FilterBenchRow& row : rows) {
    nlohmann::ordered_json object{
        {"filter", row.filter}, {"size", row.size},     {"pixel_format", row.pixel_format}, {"us", row.us},
        {"us_min", row.us_min}, {"us_max", row.us_max}, {"gb_per_s", row.gb_per_s},         {"copy_us", row.copy_us},
        {"copies", row.copies}, {"npp_us", nullptr},    {"npp_function", nullptr}};
    if (row.npp_us) {
      object["npp_us"] = *row.npp_us;
      object["npp_function"] = row.npp_function;
    }
    json.push_back(std::move(object));
  }
  return json;
}

}  // namespace framelane
