// What the modes took for the same frames, side by side: `compare`, `bench` and the demo print it, write it as JSON and
// draw it.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/device.h"
#include "pipeline/mode.h"
#include "pipeline/recorder.h"

namespace framelane {

/** One mode's run in one round. */
struct ModeRound {
  Mode mode = Mode::kSync;
  std::vector<FrameRecord> records;
  std::size_t warm_up_frames = 0;  ///< the first of `records`, which are not counted: decoder and ring are being filled
  std::size_t tail_frames = 0;     ///< the last of `records`, not counted either: the source gave out before they left
  double cpu_s = 0;                ///< the process' CPU time while the counted frames passed; 0: not measured
};

/** From the last frame before the counted ones to the last of these, as they left. Without a warm-up it begins where
 *  the first counted frame does. Throws std::invalid_argument where no frame is counted. */
Span counted_window(const ModeRound& round);
/** Mean time between the counted frames. Throws as counted_window() does. */
double frame_ms(const ModeRound& round);

/** One mode over all its rounds: medians of the rounds. Times are ms a frame. */
struct ModeFigures {
  Mode mode = Mode::kSync;
  double frame_ms = 0;  ///< mean time between frames that leave
  double fps = 0;
  double cpu_ms = 0;     ///< 0: not measured
  double submit_ms = 0;  ///< the submitter's own work; in sync mode it waits there for the device
  double speedup = 1;    ///< over sync (the first mode, where sync is not among them), round by round
  double speedup_min = 1;
  double speedup_max = 1;
  double overlap = 0;                          ///< sum of all stage times / frame time
  std::array<double, kStageCount> stage_ms{};  ///< mean; 0 where the stage did not happen
  std::array<double, kStageCount> busy{};      ///< share of the time in which the stage was at work, 0 to 1
  std::vector<FrameRecord> records;            ///< of the last round, without warm-up and tail

  double stage(Stage which) const { return stage_ms[static_cast<std::size_t>(which)]; }
  /** Time for which the stage is taken by each frame: below stage() where it works on several at once. */
  double occupied_ms(Stage which) const { return busy[static_cast<std::size_t>(which)] * frame_ms; }
};

/** All modes, and the bounds that their stages set. */
struct ModeTable {
  std::vector<ModeFigures> modes;  ///< in the order of the rounds
  /** What each stage takes of a frame's time where it has its engine to itself (see tabulate()); 0: did not happen, or
   *  no run shows it (see share_cores()). */
  std::array<double, kStageCount> alone_ms{};
  double serial_ms = 0;             ///< sum of the stages, one after the other, as sync mode runs them
  double ideal_ms = 0;              ///< the slowest single stage: what full overlap would come to; 0: cores_ms bounds
  Stage bound_by = Stage::kDecode;  ///< that stage
  int cores = 1;                    ///< of the CPU
  double cores_ms = 0;              ///< the fastest mode's CPU time spread over all cores; 0: not measured
  bool shares_cores = false;        ///< filters, decoder and encoder take the cores from each other

  const ModeFigures& fastest() const;
  /** What no mode can get below: ideal_ms, or cores_ms; 0: neither is known. */
  double bound_ms() const { return ideal_ms > 0 ? ideal_ms : cores_ms; }
};

/** Rounds of every mode, in any order; the n-th run of each mode makes up round n.
 *
 *  alone_ms is the union of a stage's spans within the counted window, over the counted frames: for decode,
 *  preprocess and encode in the fastest mode (in a slower one, codec threads work ahead while the others wait, and
 *  look faster than they are); for H2D, kernels and D2H in the mode in which it is smallest (queueing and neighbours
 *  only ever lengthen it). A union is never longer than its window, so none exceeds the fastest mode's frame time;
 *  without a tail, decoding is over before the window is, and its union tells too little. That a stage has its
 *  engine to itself holds for a GPU and its copies, and for kernels on the CPU where nothing else works there:
 *  elsewhere see share_cores().
 *  ideal_ms is the largest of them; decode and preprocess count as one there, because one thread does both.
 *  Throws std::invalid_argument where a run has no counted frame, or there is none. */
ModeTable tabulate(const std::vector<ModeRound>& rounds);

/** What is known of stages on the CPU's cores with nothing beside them. */
struct CoresAlone {
  double kernels_ms = 0;            ///< a frame; 0: not measured
  bool sync_decodes_alone = false;  ///< in sync mode nothing else works while a frame is decoded
};

/** Corrects `table` where filters share the CPU's cores with decoder and encoder. Each stage's spans then hold its
 *  wait for a core, in every mode, so that they tell nothing of the stage alone: alone_ms becomes `known`'s kernels,
 *  sync mode's decode and preprocess where they are alone there, and 0 for the rest. ideal_ms is the largest of these,
 *  or 0 where cores_ms exceeds it: then the cores are the bound. Where the spans beside other stages are shorter all
 *  the same (runs differ), these count, so that still none exceeds the fastest mode's frame time. */
void share_cores(ModeTable& table, const CoresAlone& known);

/** {"modes": {...}, "bounds": {...}, "bound_by": "decode", "advice": "..."}, as README documents it:
 *    modes.MODE       frame_ms, fps, speedup, speedup_min, speedup_max, cpu_ms (null: not measured), submit_ms, overlap
 *    modes.MODE.stages.STAGE_ms, modes.MODE.busy.{h2d,compute,d2h}
 *    bounds           serial_ms, ideal_ms (bound_ms(): cores_ms where the cores bound), cores_ms (null: not measured)
 *    bound_by         the slowest stage whose time alone is known */
nlohmann::ordered_json table_json(const ModeTable& table, Backend backend);

/** A row a stage, a column a mode; then frame time, fps, CPU time, busy engines, speed-up with its spread, and the
 *  bounds with each mode's ratio to bound_ms(). Ends with a newline. */
std::string table_text(const ModeTable& table, Backend backend);

/** What bounds the fastest mode, with its figure, and what would help: a line without a newline. */
std::string table_advice(const ModeTable& table, Backend backend);

}  // namespace framelane
