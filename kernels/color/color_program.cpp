#include "kernels/color/color_program.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "kernels/color/color_pass.h"
#include "kernels/color/color_program_cuda.h"
#include "kernels/parallel_rows.h"

namespace framelane {
namespace {

using CodeTable = std::vector<std::uint16_t>;

/** A code through plane-wise operations, one after the other. */
float composed(std::span<const ColorOp> ops, int component, float code) {
  for (const ColorOp& op : ops) code = apply_to_component(op, component, code);
  return code;
}

/** Empty where every code stays what it is. */
CodeTable code_table(std::span<const ColorOp> ops, int component, int max_code) {
  CodeTable table(static_cast<std::size_t>(max_code) + 1);
  bool changes = false;
  for (int code = 0; code <= max_code; ++code) {
    const int result = rounded_code(composed(ops, component, static_cast<float>(code)), static_cast<float>(max_code));
    table[static_cast<std::size_t>(code)] = static_cast<std::uint16_t>(result);
    changes = changes || result != code;
  }
  return changes ? table : CodeTable{};
}

std::vector<float> input_table(std::span<const ColorOp> ops, int component, int max_code) {
  std::vector<float> table(static_cast<std::size_t>(max_code) + 1);
  for (int code = 0; code <= max_code; ++code) {
    table[static_cast<std::size_t>(code)] = composed(ops, component, static_cast<float>(code));
  }
  return table;
}

ColorOp conversion(WorkingSpace to, const FrameFormat& format) {
  const bool to_rgb = to == WorkingSpace::kRgb;
  switch (format.pixel.model) {
    case ColorModel::kGray:
      return {to_rgb ? ColorOpKind::kGrayToRgb : ColorOpKind::kRgbToGray, yuv_conversion(format)};
    case ColorModel::kGbr:
      return {to_rgb ? ColorOpKind::kGbrToRgb : ColorOpKind::kRgbToGbr,
              GbrConversion{static_cast<float>(format.pixel.max_code())}};
    case ColorModel::kYuv:
      break;
  }
  return {to_rgb ? ColorOpKind::kYuvToRgb : ColorOpKind::kRgbToYuv, yuv_conversion(format)};
}

/** Takes the operations from `first` on over into the plan, with conversions where the working space changes. */
void plan_pixel_ops(ColorPlan& plan, const ColorProgram& program, std::size_t first, const FrameFormat& format) {
  WorkingSpace space = WorkingSpace::kCodes;
  const auto change_space = [&](WorkingSpace to) {
    if (space == to) return;
    plan.ops.push_back(conversion(to, format));
    plan.lut_tables.push_back(nullptr);
    space = to;
  };
  for (std::size_t i = first; i < program.ops().size(); ++i) {
    change_space(working_space(program.ops()[i].kind));
    plan.ops.push_back(program.ops()[i]);
    plan.lut_tables.push_back(program.tables()[i]);
    // a filter's colours never reach the next one in a gray frame, fused or not
    if (format.pixel.model == ColorModel::kGray) change_space(WorkingSpace::kCodes);
  }
  change_space(WorkingSpace::kCodes);
}

ColorPlan plan_color(const ColorProgram& program, const FrameFormat& format) {
  const std::span<const ColorOp> ops = program.ops();
  std::vector<ColorOp> plane_wise;
  std::ranges::copy_if(ops, std::back_inserter(plane_wise), is_plane_wise, &ColorOp::kind);
  const bool all_plane_wise = plane_wise.size() == ops.size();

  ColorPlan plan;
  const int max_code = format.pixel.max_code();
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    const bool is_alpha = format.pixel.is_alpha(plane);
    if (!all_plane_wise && !is_alpha) continue;
    plan.code_tables[plane] = code_table(plane_wise, is_alpha ? kAlphaComponent : plane, max_code);
  }
  if (all_plane_wise) return plan;

  const auto first_mixing = std::ranges::find_if_not(ops, is_plane_wise, &ColorOp::kind);
  const auto leading = ops.first(static_cast<std::size_t>(first_mixing - ops.begin()));
  for (int plane = 0; plane < format.pixel.color_planes() && !leading.empty(); ++plane) {
    plan.input_tables[plane] = input_table(leading, plane, max_code);
  }
  plan_pixel_ops(plan, program, leading.size(), format);
  return plan;
}

template <typename Sample>
void look_up_rows(const PlaneView& dst, const PlaneView& src, const CodeTable& table) {
  const int max_code = static_cast<int>(table.size()) - 1;
  parallel_rows(src.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      const Sample* from = src.row<const Sample>(y);
      Sample* to = dst.row<Sample>(y);
      for (int x = 0; x < src.width; ++x) to[x] = static_cast<Sample>(table[legal_code(from[x], max_code)]);
    }
  });
}

void copy_plane(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes) {
  parallel_rows(src.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) std::memcpy(dst.row<std::byte>(y), src.row<std::byte>(y), row_bytes);
  });
}

/** Copies or looks up the planes that the pixel pass does not write. */
void run_tables(const ColorPlan& plan, const FrameView& dst, const FrameView& src) {
  const PixelFormat& pixel = src.format.pixel;
  for (int plane = plan.ops.empty() ? 0 : pixel.color_planes(); plane < pixel.plane_count(); ++plane) {
    const CodeTable& table = plan.code_tables[plane];
    if (table.empty()) {
      copy_plane(dst.planes[plane], src.planes[plane], src.format.row_bytes(plane));
    } else if (pixel.depth_bits > 8) {
      look_up_rows<std::uint16_t>(dst.planes[plane], src.planes[plane], table);
    } else {
      look_up_rows<std::uint8_t>(dst.planes[plane], src.planes[plane], table);
    }
  }
}

// Long enough for the compiler to vectorise the conversions, short enough for the first cache level.
constexpr int kTilePixels = 32;

template <typename Sample, int kShiftX>
void filter_rows(const PixelPass& pass) {
  const int chroma_rows = (pass.height + (1 << pass.chroma_shift_y) - 1) >> pass.chroma_shift_y;
  parallel_rows(chroma_rows, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      for (int x = 0; x < pass.width; x += kTilePixels) filter_tile<Sample, kShiftX, kTilePixels>(pass, x, y);
    }
  });
}

class CpuColorFilter final : public CompiledFilter {
 public:
  explicit CpuColorFilter(ColorPlan plan) : plan_(std::move(plan)) {
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      if (plan_.lut_tables[i] != nullptr) plan_.ops[i].lut3d.table = plan_.lut_tables[i]->data();
    }
  }

  void run(const FilterArguments& arguments, CUstream_st* /*stream*/) const override {
    run_tables(plan_, arguments.dst, arguments.src);
    if (plan_.ops.empty()) return;
    PixelPass pass = make_pixel_pass(arguments.dst, arguments.src);
    pass.ops = plan_.ops.data();
    pass.op_count = static_cast<int>(plan_.ops.size());
    for (int plane = 0; plane < 3; ++plane) {
      if (!plan_.input_tables[plane].empty()) pass.input_table[plane] = plan_.input_tables[plane].data();
    }
    const PixelFormat& pixel = arguments.src.format.pixel;
    with_chroma_shift_x(pixel, [&]<int kShiftX>() {
      if (pixel.depth_bits > 8) {
        filter_rows<std::uint16_t, kShiftX>(pass);
      } else {
        filter_rows<std::uint8_t, kShiftX>(pass);
      }
    });
  }

 private:
  ColorPlan plan_;
};

}  // namespace

ColorProgram::ColorProgram() = default;
ColorProgram::~ColorProgram() = default;

void ColorProgram::append(const ColorOp& op, LutTable table) {
  ops_.push_back(op);
  tables_.push_back(std::move(table));
}

std::unique_ptr<CompiledFilter> compile_color_program(const ColorProgram& program, const FrameFormat& format,
                                                      Backend backend) {
  ColorPlan plan = plan_color(program, format);
  if constexpr (kHasCuda) {
    if (backend == Backend::kCuda) return compile_color_program_cuda(plan);
  }
  return std::make_unique<CpuColorFilter>(std::move(plan));
}

}  // namespace framelane
