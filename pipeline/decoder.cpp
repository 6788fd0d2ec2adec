// demux > [decode] > ring > submit > encode > mux.  Thread: decoder, and libavcodec's own.
#include "pipeline/decoder.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <thread>

#include "kernels/errors.h"
#include "kernels/frame.h"
#include "pipeline/cpu_cores.h"
#include "pipeline/pixel_format.h"
#include "pipeline/thread_priority.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

/** Codecs whose SIMD loops read or write a little past a plane's last row find this much room there. */
constexpr std::size_t kOverreadBytes = 2 * kPitchAlignment;

std::size_t aligned(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/** Where a decoder wants the planes of its frames. Pitches are multiples of kPitchAlignment, and a chroma pitch is
 *  exactly the luma pitch divided by the subsampling, on which some of libavcodec's codecs rely. */
FrameLayout decoder_layout(AVCodecContext& context, const PixelFormat& pixel, int width, int height) {
  int alignments[AV_NUM_DATA_POINTERS] = {};
  avcodec_align_dimensions2(&context, &width, &height, alignments);
  const FrameFormat padded{pixel, width, height, {}, {}, {}};
  std::size_t alignment = kPitchAlignment << pixel.chroma_shift_x;
  for (int plane = 0; plane < pixel.plane_count(); ++plane) {
    alignment = std::max(alignment, static_cast<std::size_t>(alignments[plane]) << pixel.chroma_shift_x);
  }
  const std::size_t pitch = aligned(padded.row_bytes(0), alignment);
  FrameLayout layout;
  for (int plane = 0; plane < pixel.plane_count(); ++plane) {
    const std::size_t plane_pitch = pixel.is_chroma(plane) ? pitch >> pixel.chroma_shift_x : pitch;
    layout.offset[plane] = layout.bytes;
    layout.pitch_bytes[plane] = static_cast<std::ptrdiff_t>(plane_pitch);
    layout.bytes += plane_pitch * static_cast<std::size_t>(padded.plane_height(plane)) + kOverreadBytes;
  }
  return layout;
}

/** Gray pictures (TIFF, PGM, …) hold full-range samples, whether they say so or not. */
bool holds_still_images(const AVCodecParameters& parameters) {
  const AVCodecDescriptor* descriptor = avcodec_descriptor_get(parameters.codec_id);
  constexpr AVCodecID kStill[] = {AV_CODEC_ID_PNG,  AV_CODEC_ID_TIFF, AV_CODEC_ID_BMP,    AV_CODEC_ID_PGM,
                                  AV_CODEC_ID_PBM,  AV_CODEC_ID_PPM,  AV_CODEC_ID_PAM,    AV_CODEC_ID_PGMYUV,
                                  AV_CODEC_ID_WEBP, AV_CODEC_ID_SGI,  AV_CODEC_ID_TARGA,  AV_CODEC_ID_JPEG2000,
                                  AV_CODEC_ID_APNG, AV_CODEC_ID_PSD,  AV_CODEC_ID_SUNRAST};
  return descriptor != nullptr && std::ranges::find(kStill, descriptor->id) != std::end(kStill);
}

bool is_gray(const AVFrame& frame) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  return descriptor->nb_components <= 2 && (descriptor->flags & AV_PIX_FMT_FLAG_PAL) == 0;
}

/** The codec's threads fill all cores. Beside a GPU, the three threads of the pipeline need one for some microseconds a
 *  frame, at once: at equal priority they wait 0.1 ms for it, and decoding as a whole is 3 to 5 % slower (1080p H.264,
 *  16 cores, H200). Threads inherit the priority of the one that creates them, which cannot raise its own again. */
int open_codec(AVCodecContext& context, const AVCodec& codec, bool below_pipeline) {
  if (!below_pipeline) return avcodec_open2(&context, &codec, nullptr);
  int status = 0;
  std::thread([&] {
    constexpr int kNicer = 5;
    lower_thread_priority(kNicer);
    status = avcodec_open2(&context, &codec, nullptr);
  }).join();
  return status;
}

}  // namespace

int default_decoder_threads() { return std::min(cpu_cores(), 16); }

const AVCodec* find_decoder(const AVStream& stream) {
  const AVCodecID id = stream.codecpar->codec_id;
  const AVDictionaryEntry* alpha = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
  if (alpha != nullptr && std::string_view(alpha->value) == "1") {
    const char* name = id == AV_CODEC_ID_VP8 ? "libvpx" : id == AV_CODEC_ID_VP9 ? "libvpx-vp9" : nullptr;
    const AVCodec* codec = name == nullptr ? nullptr : avcodec_find_decoder_by_name(name);
    if (codec != nullptr) return codec;
    spdlog::warn("the video's transparency is lost: this FFmpeg has no libvpx decoder");
  }
  return avcodec_find_decoder(id);
}

VideoDecoder::VideoDecoder(const AVStream& stream, const std::string& name, std::shared_ptr<HostPool> pool, int threads,
                           DecoderDelay delay)
    : pool_(std::move(pool)), still_images_(holds_still_images(*stream.codecpar)) {
  const AVCodec* codec = find_decoder(stream);
  const char* codec_name = avcodec_get_name(stream.codecpar->codec_id);
  if (codec == nullptr) throw InputError(fmt::format("{}: this FFmpeg cannot decode {} video", name, codec_name));
  context_ = avcodec_alloc_context3(codec);
  if (context_ == nullptr) throw std::bad_alloc();
  int status = avcodec_parameters_to_context(context_, stream.codecpar);
  context_->pkt_timebase = stream.time_base;
  context_->thread_count = threads > 0 ? threads : default_decoder_threads();
  context_->thread_type = delay == DecoderDelay::kLow ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
  context_->flags |= AV_CODEC_FLAG_UNALIGNED;  // crop to the pixel: our kernels take any address
  context_->opaque = this;
  context_->get_buffer2 = allocate;
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  context_->thread_safe_callbacks = 1;  // else a get_buffer2 of one's own makes frame threads wait for each other
#pragma GCC diagnostic pop
#endif
  if (status >= 0) status = open_codec(*context_, *codec, !pool_->device().shares_host_memory());
  if (status < 0) {
    avcodec_free_context(&context_);
    throw InputError(
        fmt::format("{}: the decoder for {} video does not open: {}", name, codec_name, av_error_text(status)));
  }
}

VideoDecoder::~VideoDecoder() { avcodec_free_context(&context_); }

int VideoDecoder::allocate(AVCodecContext* context, AVFrame* frame, int flags) {
  const std::optional<PixelFormat> pixel = planar_format(frame->format);
  if (!pixel || (context->codec->capabilities & AV_CODEC_CAP_DR1) == 0) {
    return avcodec_default_get_buffer2(context, frame, flags);
  }
  auto& decoder = *static_cast<VideoDecoder*>(context->opaque);
  const FrameLayout layout = decoder_layout(*context, *pixel, frame->width, frame->height);
  try {
    frame->buf[0] = decoder.pool_->get(layout.bytes);
  } catch (...) {
    const std::scoped_lock lock(decoder.mutex_);
    decoder.out_of_memory_ = std::current_exception();
    return AVERROR(ENOMEM);
  }
  for (int plane = 0; plane < pixel->plane_count(); ++plane) {
    frame->data[plane] = frame->buf[0]->data + layout.offset[plane];
    frame->linesize[plane] = static_cast<int>(layout.pitch_bytes[plane]);
  }
  frame->extended_data = frame->data;
  return 0;
}

void VideoDecoder::count_error(int status) {
  const std::scoped_lock lock(mutex_);
  if (out_of_memory_) std::rethrow_exception(out_of_memory_);
  if (status == AVERROR(ENOMEM)) throw std::bad_alloc();
  ++errors_;
}

void VideoDecoder::send(const AVPacket* packet) {
  const int status = avcodec_send_packet(context_, packet);
  if (status < 0 && status != AVERROR_EOF) count_error(status);
}

AvFrame VideoDecoder::receive() {
  AvFrame frame = make_frame();
  for (;;) {
    const int status = avcodec_receive_frame(context_, frame.get());
    if (status == AVERROR_EOF) ended_ = true;
    if (status == AVERROR_EOF || status == AVERROR(EAGAIN)) return nullptr;
    if (status >= 0) break;
    count_error(status);
  }
  if (frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0) ++errors_;
  correct_tags(*frame);
  return frame;
}

/** What FFmpeg's decoders leave unsaid, or say wrongly. */
void VideoDecoder::correct_tags(AVFrame& frame) const {
  if (still_images_ && frame.color_range == AVCOL_RANGE_UNSPECIFIED && is_gray(frame)) {
    frame.color_range = AVCOL_RANGE_JPEG;
  }
  // The fourth component of a JPEG is ink, which the decoder has mixed into the others by now; it is not alpha.
  if (context_->codec_id == AV_CODEC_ID_MJPEG && frame.data[3] != nullptr) {
    if (frame.format == AV_PIX_FMT_YUVA444P) frame.format = AV_PIX_FMT_YUV444P;
    if (frame.format == AV_PIX_FMT_GBRAP) frame.format = AV_PIX_FMT_GBRP;
    frame.data[3] = nullptr;
    frame.linesize[3] = 0;
  }
}

}  // namespace framelane
