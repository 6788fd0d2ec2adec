#include "app/npp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "app/npp_library.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/errors.h"
#include "kernels/plane_mask.h"

namespace framelane {
namespace {

/** Frames, parameters and reach of the filter that is asked for. */
struct Request {
  const FilterUse& use;
  const FrameFormat& input;
  const FrameFormat& output;

  double number(std::string_view name) const { return use.values.number(name); }
  int integer(std::string_view name) const { return use.values.integer(name); }
  const std::string& text(std::string_view name) const { return use.values.text(name); }
  int plane_count() const { return input.pixel.plane_count(); }
  int radius() const { return use.descriptor->spatial_radius(use.values); }
  bool all_planes_selected() const {
    for (int plane = 0; plane < plane_count(); ++plane) {
      if (!mask_selects(integer("planes"), input.pixel, plane)) return false;
    }
    return true;
  }
};

/** One NPP call for one plane. `scratch` is the compiled filter's. */
using PlaneCall = std::function<npp::Status(const PlaneView& dst, const PlaneView& src, std::byte* scratch,
                                            const npp::StreamContext& context)>;

struct FrameCalls {
  std::string function;
  FrameFormat output;
  std::vector<PlaneCall> planes;  ///< one call a plane
  std::size_t scratch_bytes = 0;
};

class NppFrameFilter final : public CompiledFilter {
 public:
  explicit NppFrameFilter(FrameCalls calls) : calls_(std::move(calls)), context_(npp::current_device_context()) {}

  std::size_t scratch_bytes() const override { return calls_.scratch_bytes; }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    npp::StreamContext context = context_;
    context.stream = stream;
    for (std::size_t plane = 0; plane < calls_.planes.size(); ++plane) {
      const npp::Status status =
          calls_.planes[plane](arguments.dst.planes[plane], arguments.src.planes[plane], arguments.scratch, context);
      if (status < 0) throw DeviceError(fmt::format("NPP: {} failed with status {}", calls_.function, status));
    }
  }

 private:
  FrameCalls calls_;
  npp::StreamContext context_;
};

const std::uint8_t* samples(const PlaneView& plane) { return plane.row<const std::uint8_t>(0); }
int step(const PlaneView& plane) { return static_cast<int>(plane.pitch_bytes); }
npp::Size size_of(const PlaneView& plane) { return {plane.width, plane.height}; }
npp::Rectangle all_of(const PlaneView& plane) { return {0, 0, plane.width, plane.height}; }

FrameCalls same_call_for_all(const Request& request, std::string function, PlaneCall call) {
  return {std::move(function), request.output,
          std::vector<PlaneCall>(static_cast<std::size_t>(request.plane_count()), std::move(call)), 0};
}

/** A function that takes both planes and a size: nppiNot, nppiTranspose, nppiCopy. */
PlaneCall plain_call(npp::Copy* function) {
  return [function](const PlaneView& dst, const PlaneView& src, std::byte*, const npp::StreamContext& context) {
    return function(samples(src), step(src), dst.row<std::uint8_t>(0), step(dst), size_of(src), context);
  };
}

std::optional<FrameCalls> mirror(const Request& request, npp::Axis axis) {
  const std::string name = "nppiMirror_8u_C1R_Ctx";
  auto* const function = npp::find<npp::Mirror>(name);
  if (function == nullptr) return std::nullopt;
  return same_call_for_all(
      request, name, [=](const PlaneView& dst, const PlaneView& src, std::byte*, const npp::StreamContext& context) {
        return function(samples(src), step(src), dst.row<std::uint8_t>(0), step(dst), size_of(src), axis, context);
      });
}

std::optional<FrameCalls> hflip(const Request& request) { return mirror(request, npp::Axis::kVertical); }
std::optional<FrameCalls> vflip(const Request& request) { return mirror(request, npp::Axis::kHorizontal); }

std::optional<FrameCalls> transpose(const Request& request) {
  const std::string& dir = request.text("dir");
  if ((dir != "cclock_flip" && dir != "0") || request.text("passthrough") != "none") return std::nullopt;
  const std::string name = "nppiTranspose_8u_C1R_Ctx";
  auto* const function = npp::find<npp::Transpose>(name);
  if (function == nullptr) return std::nullopt;
  return same_call_for_all(request, name, plain_call(function));
}

std::optional<FrameCalls> negate(const Request& request) {
  if (request.use.values.is_set("components") || request.input.pixel.alpha) return std::nullopt;
  const std::string name = "nppiNot_8u_C1R_Ctx";
  auto* const function = npp::find<npp::Not>(name);
  if (function == nullptr) return std::nullopt;
  return same_call_for_all(request, name, plain_call(function));
}

/** NPP's name for the kernel, where it is the same one for this change of size. */
std::optional<npp::Interpolation> interpolation(const Request& request) {
  const std::string& flags = request.text("flags");
  const bool wider = request.output.width >= request.input.width;
  const bool higher = request.output.height >= request.input.height;
  if (flags == "area" && !wider && !higher) return npp::Interpolation::kSuper;
  if (!wider || !higher) return std::nullopt;
  if (flags == "bilinear") return npp::Interpolation::kLinear;
  if (flags == "bicubic") return npp::Interpolation::kCubic;
  if (flags == "lanczos") return npp::Interpolation::kLanczos;
  return std::nullopt;
}

std::optional<FrameCalls> scale(const Request& request) {
  const auto kernel = interpolation(request);
  const std::string name = "nppiResize_8u_C1R_Ctx";
  auto* const function = npp::find<npp::Resize>(name);
  if (!kernel || request.output.range != request.input.range || function == nullptr) return std::nullopt;
  return same_call_for_all(
      request, name, [=](const PlaneView& dst, const PlaneView& src, std::byte*, const npp::StreamContext& context) {
        return function(samples(src), step(src), size_of(src), all_of(src), dst.row<std::uint8_t>(0), step(dst),
                        size_of(dst), all_of(dst), *kernel, context);
      });
}

std::vector<float> gaussian_weights(double sigma_px, int radius) {
  std::vector<float> weights;
  double sum = 0;
  for (int x = -radius; x <= radius; ++x) {
    weights.push_back(static_cast<float>(std::exp(-0.5 * x * x / (sigma_px * sigma_px))));
    sum += weights.back();
  }
  for (float& weight : weights) weight = static_cast<float>(weight / sum);
  return weights;
}

/** With 5 weights NPP 13.0.2 gives something else (12 codes off on noise); with 17 and more it is right. */
constexpr int kFewestGaussianWeights = 17;

std::optional<FrameCalls> gblur(const Request& request) {
  const double sigma_px = request.number("sigma");
  const double vertical_px = request.number("sigmaV");
  const bool round = vertical_px < 0 || vertical_px == sigma_px;
  const std::string name = "nppiFilterGaussAdvancedBorder_8u_C1R_Ctx";
  auto* const function = npp::find<npp::FilterGaussAdvancedBorder>(name);
  if (!round || sigma_px == 0 || !request.all_planes_selected() || function == nullptr) return std::nullopt;
  const std::vector<float> weights = gaussian_weights(sigma_px, request.radius());
  if (weights.size() < kFewestGaussianWeights) return std::nullopt;
  const auto on_device = std::make_shared<DeviceBuffer<float>>(std::span<const float>(weights));
  return same_call_for_all(
      request, name, [=](const PlaneView& dst, const PlaneView& src, std::byte*, const npp::StreamContext& context) {
        return function(samples(src), step(src), size_of(src), {0, 0}, dst.row<std::uint8_t>(0), step(dst),
                        size_of(dst), static_cast<int>(on_device->size()), on_device->data(), npp::Border::kReplicate,
                        context);
      });
}

std::optional<FrameCalls> sobel(const Request& request) {
  const std::string name = "nppiGradientVectorSobelBorder_8u16s_C1R_Ctx";
  auto* const function = npp::find<npp::GradientVectorSobelBorder>(name);
  const bool plain = request.number("scale") == 1 && request.number("delta") == 0;
  if (!plain || !request.all_planes_selected() || function == nullptr) return std::nullopt;
  FrameCalls calls = same_call_for_all(
      request, name, [=](const PlaneView& dst, const PlaneView& src, std::byte*, const npp::StreamContext& context) {
        return function(samples(src), step(src), size_of(src), {0, 0}, nullptr, 0, nullptr, 0, dst.row<std::int16_t>(0),
                        step(dst), nullptr, 0, size_of(dst), npp::MaskSize::k3x3, npp::Norm::kL2,
                        npp::Border::kReplicate, context);
      });
  calls.output.pixel.depth_bits = 16;
  return calls;
}

/** Names of unsharp's parameters for a plane, and what they come to for NPP. */
struct Sharpening {
  Sharpening(const Request& request, int plane) {
    const FrameFormat& format = request.input;
    const std::string letter = format.pixel.is_alpha(plane) ? "a" : format.pixel.is_chroma(plane) ? "c" : "l";
    amount = static_cast<float>(request.number(letter + "a"));
    square = request.integer(letter + "x") == request.integer(letter + "y");
    radius = static_cast<float>(request.integer(letter + "x") / 2);
    sigma_px = std::sqrt(radius / 2);  // of the binomial distribution of 2 * radius steps
  }
  float amount;
  bool square;
  float radius;
  float sigma_px;
};

std::optional<FrameCalls> unsharp(const Request& request) {
  const std::string name = "nppiFilterUnsharpBorder_8u_C1R_Ctx";
  auto* const function = npp::find<npp::FilterUnsharpBorder>(name);
  auto* const buffer_size = npp::find<npp::FilterUnsharpGetBufferSize>("nppiFilterUnsharpGetBufferSize_8u_C1R");
  auto* const copy = npp::find<npp::Copy>("nppiCopy_8u_C1R_Ctx");
  if (function == nullptr || buffer_size == nullptr || copy == nullptr) return std::nullopt;
  FrameCalls calls{name, request.output, {}, 0};
  for (int plane = 0; plane < request.plane_count(); ++plane) {
    const Sharpening sharpening(request, plane);
    if (sharpening.amount == 0) {
      calls.planes.push_back(plain_call(copy));
      continue;
    }
    int bytes = 0;
    if (sharpening.amount < 0 || !sharpening.square ||
        buffer_size(sharpening.radius, sharpening.sigma_px, &bytes) < 0) {
      return std::nullopt;
    }
    calls.scratch_bytes = std::max(calls.scratch_bytes, static_cast<std::size_t>(bytes));
    calls.planes.emplace_back(
        [=](const PlaneView& dst, const PlaneView& src, std::byte* scratch, const npp::StreamContext& context) {
          return function(samples(src), step(src), {0, 0}, dst.row<std::uint8_t>(0), step(dst), size_of(dst),
                          sharpening.radius, sharpening.sigma_px, sharpening.amount, 0, npp::Border::kReplicate,
                          reinterpret_cast<std::uint8_t*>(scratch), context);
        });
  }
  return calls;
}

struct Entry {
  std::string_view filter;
  std::optional<FrameCalls> (*find)(const Request& request);
};
constexpr std::array kEntries{Entry{"scale", scale}, Entry{"transpose", transpose}, Entry{"hflip", hflip},
                              Entry{"vflip", vflip}, Entry{"gblur", gblur},         Entry{"unsharp", unsharp},
                              Entry{"sobel", sobel}, Entry{"negate", negate}};

}  // namespace

std::optional<NppCounterpart> find_npp_counterpart(const FilterUse& use, const FrameFormat& input,
                                                   const FrameFormat& output) {
  const auto* const entry = std::ranges::find(kEntries, use.descriptor->name, &Entry::filter);
  if (entry == kEntries.end() || input.pixel.depth_bits != 8 || output.pixel.depth_bits != 8) return std::nullopt;
  std::optional<FrameCalls> calls = entry->find({use, input, output});
  if (!calls) return std::nullopt;
  NppCounterpart counterpart{calls->function, calls->output, nullptr};
  counterpart.compiled = std::make_unique<NppFrameFilter>(std::move(*calls));
  return counterpart;
}

}  // namespace framelane
