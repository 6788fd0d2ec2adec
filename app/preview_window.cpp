// Beside the frame's way.  Thread: main (show(): encoder).
#include "app/preview_window.h"

#define SDL_MAIN_HANDLED  // main() is ours
#include <SDL.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "kernels/errors.h"
#include "pipeline/av.h"
#include "pipeline/frame_picture.h"

namespace framelane {
namespace {

struct SdlDeleter {
  void operator()(SDL_Window* window) const { SDL_DestroyWindow(window); }
  void operator()(SDL_Renderer* renderer) const { SDL_DestroyRenderer(renderer); }
  void operator()(SDL_Texture* texture) const { SDL_DestroyTexture(texture); }
};
template <typename T>
using SdlPointer = std::unique_ptr<T, SdlDeleter>;

/** SDL's video part, for as long as this lives. */
class SdlVideo {
 public:
  SdlVideo() {
    SDL_SetMainReady();
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // Ctrl-C is ours: it finishes the output
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) throw DeviceError(no_display(SDL_GetError()));
    // Without a display SDL falls back to drivers that show nothing.
    const std::string_view driver = SDL_GetCurrentVideoDriver();
    if ((driver == "offscreen" || driver == "dummy") && std::getenv("SDL_VIDEODRIVER") == nullptr) {
      SDL_QuitSubSystem(SDL_INIT_VIDEO);
      throw DeviceError(no_display("neither DISPLAY nor WAYLAND_DISPLAY leads to one"));
    }
  }
  ~SdlVideo() { SDL_QuitSubSystem(SDL_INIT_VIDEO); }
  SdlVideo(const SdlVideo&) = delete;
  SdlVideo& operator=(const SdlVideo&) = delete;

 private:
  static std::string no_display(const char* cause) { return fmt::format("no display for --preview: {}", cause); }
};

SdlPointer<SDL_Window> create_window(const std::string& title, const SDL_Rect& area) {
  SdlPointer<SDL_Window> window(
      SDL_CreateWindow(title.c_str(), area.x, area.y, area.w, area.h, SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI));
  if (!window) throw DeviceError(fmt::format("no window for --preview: {}", SDL_GetError()));
  return window;
}

SdlPointer<SDL_Renderer> create_renderer(SDL_Window& window) {
  constexpr std::array<Uint32, 2> kChoices{SDL_RENDERER_ACCELERATED | SDL_RENDERER_PRESENTVSYNC, SDL_RENDERER_SOFTWARE};
  for (const Uint32 flags : kChoices) {
    if (SDL_Renderer* renderer = SDL_CreateRenderer(&window, -1, flags)) return SdlPointer<SDL_Renderer>(renderer);
    spdlog::debug("preview: no {} renderer: {}", (flags & SDL_RENDERER_SOFTWARE) != 0 ? "software" : "accelerated",
                  SDL_GetError());
  }
  throw DeviceError(fmt::format("no renderer for --preview: {}", SDL_GetError()));
}

/** `shape` made as large as fits into `room`, in the middle. */
SDL_Rect fitted(PictureSize shape, PictureSize room) {
  const double scale =
      std::min(static_cast<double>(room.width) / shape.width, static_cast<double>(room.height) / shape.height);
  const int width = std::clamp(static_cast<int>(std::lround(shape.width * scale)), 1, std::max(room.width, 1));
  const int height = std::clamp(static_cast<int>(std::lround(shape.height * scale)), 1, std::max(room.height, 1));
  return {(room.width - width) / 2, (room.height - height) / 2, width, height};
}

}  // namespace

/** Members are made in order and end in reverse: SDL last. */
struct PreviewWindow::State {
  explicit State(std::string window_title) : title(std::move(window_title)) {}

  void take_newest();
  void open();
  void draw();
  void paint(SDL_Texture& target, PictureSize size);
  void handle(const SDL_Event& event, std::vector<char>& keys);
  bool is_fullscreen() const {
    return window && (SDL_GetWindowFlags(window.get()) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
  }
  void toggle_fullscreen();

  const std::string title;
  SdlVideo video;
  SdlPointer<SDL_Window> window;  ///< from the first frame on
  SdlPointer<SDL_Renderer> renderer;
  SdlPointer<SDL_Texture> texture;
  PictureSize texture_size;
  PicturePainter painter;
  AvFrame shown;  ///< what the window shows, for when it is resized
  bool must_draw = false;

  std::mutex mutex;
  AvFrame newest;  ///< not drawn yet, or null; guarded by mutex
};

PreviewWindow::PreviewWindow(const std::string& title) : state_(std::make_unique<State>(title)) {}
PreviewWindow::~PreviewWindow() = default;

void PreviewWindow::show(const AVFrame& frame) {
  AvFrame newest = reference(frame);
  {
    const std::scoped_lock lock(state_->mutex);
    std::swap(newest, state_->newest);
  }
  // The one it replaces is let go here, outside the lock.
}

std::vector<char> PreviewWindow::pump() {
  std::vector<char> keys;
  SDL_Event event;
  while (SDL_PollEvent(&event) != 0) state_->handle(event, keys);
  state_->take_newest();
  if (state_->shown && !state_->window) state_->open();
  if (state_->must_draw) state_->draw();
  return keys;
}

void PreviewWindow::toggle_fullscreen() { state_->toggle_fullscreen(); }

void PreviewWindow::State::take_newest() {
  AvFrame frame;
  {
    const std::scoped_lock lock(mutex);
    frame = std::move(newest);
  }
  if (!frame) return;
  shown = std::move(frame);
  must_draw = true;
}

/** Opens the window in the frame's size, or as large as the desktop allows. Not earlier: a hidden window that is
 *  resized before it is shown keeps, with some of SDL's renderers, its first size. */
void PreviewWindow::State::open() {
  const PictureSize shape = display_size(*shown);
  SDL_Rect desktop{0, 0, shape.width, shape.height};
  SDL_GetDisplayUsableBounds(0, &desktop);
  SDL_Rect area{(desktop.w - shape.width) / 2, (desktop.h - shape.height) / 2, shape.width, shape.height};
  if (shape.width > desktop.w || shape.height > desktop.h) area = fitted(shape, {desktop.w, desktop.h});
  area.x += desktop.x;
  area.y += desktop.y;
  window = create_window(title, area);
  renderer = create_renderer(*window);
}

void PreviewWindow::State::draw() {
  if (!shown || (SDL_GetWindowFlags(window.get()) & SDL_WINDOW_MINIMIZED) != 0) return;
  PictureSize room;
  if (SDL_GetRendererOutputSize(renderer.get(), &room.width, &room.height) != 0) return;
  const SDL_Rect area = fitted(display_size(*shown), room);
  // No larger than what is seen, no larger than the frame: the display enlarges at no cost of ours.
  const PictureSize stored = stored_size(*shown);
  const PictureSize size{std::min(area.w, stored.width), std::min(area.h, stored.height)};
  if (!texture || texture_size != size) {
    texture.reset(SDL_CreateTexture(renderer.get(), SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING, size.width,
                                    size.height));
    if (!texture) throw DeviceError(fmt::format("no texture for --preview: {}", SDL_GetError()));
    SDL_SetTextureBlendMode(texture.get(), SDL_BLENDMODE_NONE);
    texture_size = size;
  }
  paint(*texture, size);
  SDL_SetRenderDrawColor(renderer.get(), 0, 0, 0, SDL_ALPHA_OPAQUE);
  SDL_RenderClear(renderer.get());
  SDL_RenderCopy(renderer.get(), texture.get(), nullptr, &area);
  SDL_RenderPresent(renderer.get());
  must_draw = false;
}

void PreviewWindow::State::paint(SDL_Texture& target, PictureSize size) {
  void* pixels = nullptr;
  int pitch_bytes = 0;
  if (SDL_LockTexture(&target, nullptr, &pixels, &pitch_bytes) != 0) {
    throw DeviceError(fmt::format("preview: {}", SDL_GetError()));
  }
  painter.paint(static_cast<std::byte*>(pixels), pitch_bytes, size, *shown);
  SDL_UnlockTexture(&target);
}

void PreviewWindow::State::handle(const SDL_Event& event, std::vector<char>& keys) {
  switch (event.type) {
    case SDL_TEXTINPUT:
      // Bytes of other alphabets mean nothing here.
      for (const char* text = event.text.text; *text != '\0'; ++text) {
        if (*text >= ' ' && *text <= '~') keys.push_back(*text);
      }
      break;
    case SDL_KEYDOWN:
      if (event.key.keysym.sym != SDLK_ESCAPE || event.key.repeat != 0) break;
      keys.push_back(is_fullscreen() ? 'f' : 'q');
      break;
    case SDL_MOUSEBUTTONDOWN:
      if (event.button.button == SDL_BUTTON_LEFT && event.button.clicks == 2) keys.push_back('f');
      break;
    case SDL_WINDOWEVENT:
      if (event.window.event == SDL_WINDOWEVENT_CLOSE) {
        keys.push_back('q');
      } else {
        must_draw = shown != nullptr;  // exposed, resized, moved to another display
      }
      break;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET:
      texture.reset();
      must_draw = shown != nullptr;
      break;
    default:
      break;
  }
}

void PreviewWindow::State::toggle_fullscreen() {
  if (!window) return;
  SDL_SetWindowFullscreen(window.get(), is_fullscreen() ? 0 : SDL_WINDOW_FULLSCREEN_DESKTOP);
  must_draw = shown != nullptr;
}

}  // namespace framelane
