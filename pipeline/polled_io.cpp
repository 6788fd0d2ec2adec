// [read] > demux: standard input and named pipes.  Thread: decoder.
#include "pipeline/polled_io.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

namespace framelane {
namespace {

constexpr int kBufferBytes = 1 << 16;  // what a Linux pipe holds
constexpr int kPollMs = 50;

}  // namespace

PolledIo::PolledIo(int descriptor, Closing closing, const std::atomic<bool>& stop)
    : descriptor_(descriptor), closing_(closing), stop_(stop) {
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  const bool seekable = lseek(descriptor, 0, SEEK_CUR) >= 0;
  context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read, nullptr, seekable ? seek : nullptr);
  if (buffer == nullptr || context_ == nullptr) {
    av_free(buffer);
    throw std::bad_alloc();
  }
}

PolledIo::~PolledIo() {
  av_freep(&context_->buffer);  // libavformat may have replaced the one given
  avio_context_free(&context_);
  if (closing_ == Closing::kClose) close(descriptor_);
}

int PolledIo::read(void* self, std::uint8_t* buffer, int bytes) {
  const auto& io = *static_cast<PolledIo*>(self);
  while (!io.stop_) {
    pollfd descriptor{io.descriptor_, POLLIN, 0};
    const int ready = poll(&descriptor, 1, kPollMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(io.descriptor_, buffer, static_cast<std::size_t>(bytes));
    if (count > 0) return static_cast<int>(count);
    if (count == 0) return AVERROR_EOF;
    if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
  }
  return AVERROR_EXIT;
}

std::int64_t PolledIo::seek(void* self, std::int64_t offset, int whence) {
  const auto& io = *static_cast<PolledIo*>(self);
  if ((whence & AVSEEK_SIZE) != 0) {
    struct stat status {};
    return fstat(io.descriptor_, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : AVERROR(ENOSYS);
  }
  const off_t position = lseek(io.descriptor_, offset, whence & ~AVSEEK_FORCE);
  return position < 0 ? AVERROR(errno) : position;
}

}  // namespace framelane
