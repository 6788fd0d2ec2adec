// A run of neighbouring colour filters, fused into one pass over the frame.
//
// Each colour filter appends its operations (Filter::append_to); compile_color_program() makes one pass of them that
// reads every sample once, works in float32 and rounds once, when it writes:
//  - a program of plane-wise operations alone (eq, negate) becomes one table a plane;
//  - any other reads a chroma sample together with the luma samples that it belongs to, gives all of them its chroma,
//    applies the operations to each, converting only where neighbours' working spaces differ, and writes their luma
//    and the mean of their chroma. Plane-wise operations before the first of another kind are one table a plane here
//    too. Operations that change nothing give back every sample unchanged (color_math.h says why).
// Alpha is touched by plane-wise operations alone, else copied.
#pragma once

#include <memory>
#include <vector>

#include "kernels/filter.h"

namespace framelane {

struct ColorOp;
struct LutEntry;

/** A 3D table in host memory, shared by the filter that read it and the programs that use it. */
using LutTable = std::shared_ptr<const std::vector<LutEntry>>;

/** Operations in the order in which they are applied.  Thread: one at a time. */
class ColorProgram {
 public:
  ColorProgram();
  ~ColorProgram();

  /** `table`: what a table operation looks up; its own pointer is set by compile_color_program(). */
  void append(const ColorOp& op, LutTable table = nullptr);

  const std::vector<ColorOp>& ops() const { return ops_; }
  /** Beside each of ops(); null where it needs none. */
  const std::vector<LutTable>& tables() const { return tables_; }

 private:
  std::vector<ColorOp> ops_;
  std::vector<LutTable> tables_;
};

/** Compiles `program` into one pass for frames of `format`; keeps what it needs of `program`. On CUDA uploads tables
 *  (blocking, on the current device). An empty program copies. */
std::unique_ptr<CompiledFilter> compile_color_program(const ColorProgram& program, const FrameFormat& format,
                                                      Backend backend);

}  // namespace framelane
