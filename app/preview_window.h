// A window that shows frames on their way to the encoder, and the keys typed into it.
#pragma once

#include <memory>
#include <string>
#include <vector>

struct AVFrame;

namespace framelane {

/** Shows the newest frame, in its right shape (sample aspect ratio) and colours, letterboxed in a window that may be
 *  resized, at the display's refresh. Frames that come faster are left out; the pipeline never waits.
 *  Thread: show() any (the encoder); all else main. Owns: the window, and references to the newest frames. */
class PreviewWindow {
 public:
  /** Connects to the display; the window opens with the first frame, as large as that or the desktop allows. Throws
   *  DeviceError where there is no display. */
  explicit PreviewWindow(const std::string& title);
  ~PreviewWindow();
  PreviewWindow(const PreviewWindow&) = delete;
  PreviewWindow& operator=(const PreviewWindow&) = delete;

  /** Keeps a reference to `frame` until a newer one comes; never blocks. */
  void show(const AVFrame& frame);
  /** Draws the newest frame where it has not been drawn, handles the window's events, and returns the keys typed, as
   *  the terminal gives them; the close button is 'q', a double click 'f', and Escape ends full screen or is 'q'.
   *  May wait for one refresh of the display. Throws DeviceError where the display refuses a window. */
  std::vector<char> pump();
  void toggle_fullscreen();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace framelane
