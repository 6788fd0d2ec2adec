// demux > [copy] > mux.
#include "pipeline/stream_copy.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <string_view>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>
}

namespace framelane {
namespace {

constexpr AVRational kMicroseconds{1, AV_TIME_BASE};

bool is_attached_picture(const AVStream& stream) { return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0; }

bool is_matroska(const AVOutputFormat& muxer) { return std::string_view(muxer.name) == "matroska"; }

/** libavformat has no codec table for MPEG-TS. */
bool mpegts_takes(AVCodecID codec) {
  constexpr std::array kCodecs{AV_CODEC_ID_AAC,  AV_CODEC_ID_MP2,  AV_CODEC_ID_MP3,       AV_CODEC_ID_AC3,
                               AV_CODEC_ID_EAC3, AV_CODEC_ID_DTS,  AV_CODEC_ID_OPUS,      AV_CODEC_ID_DVB_SUBTITLE,
                               AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG2VIDEO};
  return std::ranges::find(kCodecs, codec) != kCodecs.end();
}

/** Containers for pictures only answer by their default codecs, which is "none" for sound. */
bool container_takes(const AVOutputFormat& muxer, const AVStream& stream) {
  const AVCodecParameters& parameters = *stream.codecpar;
  if (parameters.codec_type == AVMEDIA_TYPE_ATTACHMENT) return is_matroska(muxer);
  if (parameters.codec_id == AV_CODEC_ID_NONE || parameters.codec_type == AVMEDIA_TYPE_UNKNOWN) return false;
  if (is_attached_picture(stream)) {
    constexpr std::array<std::string_view, 6> kWithCovers{"mp4", "mov", "ipod", "matroska", "mp3", "flac"};
    if (std::ranges::find(kWithCovers, muxer.name) == kWithCovers.end()) return false;
    if (is_matroska(muxer)) return true;
  }
  if (std::string_view(muxer.name) == "mpegts") return mpegts_takes(parameters.codec_id);
  return avformat_query_codec(&muxer, parameters.codec_id, FF_COMPLIANCE_NORMAL) == 1;
}

bool has_edit_lists(const AVOutputFormat& muxer) {
  constexpr std::array<std::string_view, 5> kNames{"mp4", "mov", "ipod", "3gp", "3g2"};
  return std::ranges::find(kNames, muxer.name) != kNames.end();
}

/** The tag that the input's container gives a codec stays only where the output's knows it for the same one. */
std::uint32_t output_tag(const AVOutputFormat& muxer, const AVCodecParameters& parameters) {
  unsigned ours = 0;
  const bool keeps = muxer.codec_tag == nullptr ||
                     av_codec_get_id(muxer.codec_tag, parameters.codec_tag) == parameters.codec_id ||
                     av_codec_get_tag2(muxer.codec_tag, parameters.codec_id, &ours) == 0;
  return keeps ? parameters.codec_tag : 0;
}

/** Tags that tell how a stream or file was coded: not true of ours. Others go through, the date among them. */
bool describes_coding(std::string_view key) {
  constexpr std::array<std::string_view, 6> kKeys{"encoder",           "major_brand", "minor_version",
                                                  "compatible_brands", "DURATION",    "rotate"};
  constexpr std::array<std::string_view, 4> kStatistics{"BPS", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES", "_STATISTICS_"};
  return std::ranges::find(kKeys, key) != kKeys.end() ||
         std::ranges::any_of(kStatistics, [&](std::string_view prefix) { return key.starts_with(prefix); });
}

void copy_tags(AVDictionary** to, const AVDictionary* from) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (!describes_coding(entry->key)) av_dict_set(to, entry->key, entry->value, 0);
  }
}

/** Matroska holds pictures as attached files: with a name and a type. */
void make_attachment(AVStream& to, const AVStream& from) {
  const AVPacket& picture = from.attached_pic;
  AVCodecParameters& parameters = *to.codecpar;
  parameters.codec_type = AVMEDIA_TYPE_ATTACHMENT;
  parameters.codec_tag = 0;
  const auto bytes = static_cast<std::size_t>(picture.size);
  parameters.extradata = static_cast<std::uint8_t*>(av_mallocz(bytes + AV_INPUT_BUFFER_PADDING_SIZE));
  if (parameters.extradata == nullptr) throw std::bad_alloc();
  std::memcpy(parameters.extradata, picture.data, bytes);
  parameters.extradata_size = picture.size;
  const bool png = parameters.codec_id == AV_CODEC_ID_PNG;
  av_dict_set(&to.metadata, "filename", png ? "cover.png" : "cover.jpg", AV_DICT_DONT_OVERWRITE);
  av_dict_set(&to.metadata, "mimetype", png ? "image/png" : "image/jpeg", AV_DICT_DONT_OVERWRITE);
  to.disposition = 0;
}

/** Side data of a whole stream; FFmpeg 6.1 moved it to the codec parameters. */
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
bool has_side_data(const AVStream& stream, AVPacketSideDataType type) {
  return av_packet_side_data_get(stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, type) !=
         nullptr;
}
void copy_side_data(AVStream& to, const AVStream& from, AVPacketSideDataType type) {
  const AVPacketSideData* data =
      av_packet_side_data_get(from.codecpar->coded_side_data, from.codecpar->nb_coded_side_data, type);
  if (data == nullptr) return;
  AVPacketSideData* copy =
      av_packet_side_data_new(&to.codecpar->coded_side_data, &to.codecpar->nb_coded_side_data, type, data->size, 0);
  if (copy != nullptr) std::memcpy(copy->data, data->data, data->size);
}
std::uint8_t* new_side_data(AVStream& to, AVPacketSideDataType type, std::size_t bytes) {
  AVPacketSideData* data =
      av_packet_side_data_new(&to.codecpar->coded_side_data, &to.codecpar->nb_coded_side_data, type, bytes, 0);
  return data == nullptr ? nullptr : data->data;
}
#else
bool has_side_data(const AVStream& stream, AVPacketSideDataType type) {
  return av_stream_get_side_data(&stream, type, nullptr) != nullptr;
}
void copy_side_data(AVStream& to, const AVStream& from, AVPacketSideDataType type) {
  std::size_t bytes = 0;
  const std::uint8_t* data = av_stream_get_side_data(&from, type, &bytes);
  if (data == nullptr) return;
  if (std::uint8_t* copy = av_stream_new_side_data(&to, type, bytes)) std::memcpy(copy, data, bytes);
}
std::uint8_t* new_side_data(AVStream& to, AVPacketSideDataType type, std::size_t bytes) {
  return av_stream_new_side_data(&to, type, bytes);
}
#endif

/** HDR's static metadata often comes with the frames only (HEVC's SEI messages), but containers want it up front. */
void copy_frame_side_data(AVStream& to, const AVFrame& first, AVFrameSideDataType from, AVPacketSideDataType type) {
  const AVFrameSideData* data = av_frame_get_side_data(&first, from);
  if (data == nullptr || has_side_data(to, type)) return;
  if (std::uint8_t* copy = new_side_data(to, type, data->size)) std::memcpy(copy, data->data, data->size);
}

const char* type_name(AVMediaType type) {
  const char* name = av_get_media_type_string(type);
  return name == nullptr ? "unknown" : name;
}

}  // namespace

StreamCopy::StreamCopy(AVFormatContext& output, const AVFormatContext& input, const AVStream& video,
                       const std::string& name)
    : output_(output), input_(input), routes_(input.nb_streams) {
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    const AVStream& from = *input.streams[i];
    if (from.index == video.index || add_stream(from)) continue;
    spdlog::warn(
        "{}: stream {} ({} {}) is left out: {} cannot hold it", name, i, avcodec_get_name(from.codecpar->codec_id),
        is_attached_picture(from) ? "cover picture" : type_name(from.codecpar->codec_type), output.oformat->name);
  }
}

bool StreamCopy::add_stream(const AVStream& from) {
  if (!container_takes(*output_.oformat, from)) return false;
  AVStream* to = avformat_new_stream(&output_, nullptr);
  if (to == nullptr || avcodec_parameters_copy(to->codecpar, from.codecpar) < 0) throw std::bad_alloc();
  to->codecpar->codec_tag = output_tag(*output_.oformat, *from.codecpar);
  to->time_base = from.time_base;
  to->disposition = from.disposition;
  to->sample_aspect_ratio = from.sample_aspect_ratio;
  to->avg_frame_rate = from.avg_frame_rate;
  copy_tags(&to->metadata, from.metadata);
  if (is_attached_picture(from) && is_matroska(*output_.oformat)) make_attachment(*to, from);
  routes_[static_cast<std::size_t>(from.index)].output_stream = to->index;
  return true;
}

int StreamCopy::write_attached_pictures() {
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const AVStream& from = *input_.streams[i];
    const int index = routes_[i].output_stream;
    if (index < 0 || !is_attached_picture(from)) continue;
    if (output_.streams[index]->codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT) continue;  // is in the header
    const AvPacket picture = make_packet();
    if (av_packet_ref(picture.get(), &from.attached_pic) < 0) throw std::bad_alloc();
    picture->stream_index = index;
    picture->pts = picture->dts = 0;
    const int status = av_interleaved_write_frame(&output_, picture.get());
    if (status < 0) return status;
  }
  return 0;
}

bool StreamCopy::adapt(AVPacket& packet, int input_stream) {
  const auto index = static_cast<std::size_t>(input_stream);
  if (index >= routes_.size() || routes_[index].output_stream < 0) return false;
  // What an edit list cuts off; other containers than MP4 would play it.
  if ((packet.flags & AV_PKT_FLAG_DISCARD) != 0 && !has_edit_lists(*output_.oformat)) return false;
  Route& route = routes_[index];
  const AVStream& to = *output_.streams[route.output_stream];
  packet.stream_index = route.output_stream;
  packet.pos = -1;
  av_packet_rescale_ts(&packet, input_.streams[input_stream]->time_base, to.time_base);
  if (packet.dts == AV_NOPTS_VALUE) packet.dts = packet.pts;
  if (packet.dts == AV_NOPTS_VALUE) packet.dts = route.last_dts ? *route.last_dts + 1 : 0;
  const AVMediaType type = to.codecpar->codec_type;
  const bool may_repeat =
      type == AVMEDIA_TYPE_SUBTITLE || type == AVMEDIA_TYPE_DATA || (output_.oformat->flags & AVFMT_TS_NONSTRICT) != 0;
  if (route.last_dts) packet.dts = std::max(packet.dts, *route.last_dts + (may_repeat ? 0 : 1));
  if (packet.pts == AV_NOPTS_VALUE || packet.pts < packet.dts) packet.pts = packet.dts;
  route.last_dts = packet.dts;
  return true;
}

std::string StreamCopy::description() const {
  std::map<std::string, int> counts;
  for (const Route& route : routes_) {
    if (route.output_stream >= 0) ++counts[type_name(output_.streams[route.output_stream]->codecpar->codec_type)];
  }
  std::string text;
  for (const auto& [type, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, type);
  return text.empty() ? text : text + " copied";
}

void copy_descriptions(AVFormatContext& output, AVStream& output_video, const AVFormatContext& input,
                       const AVStream& input_video, const AVFrame& first) {
  copy_tags(&output.metadata, input.metadata);
  copy_tags(&output_video.metadata, input_video.metadata);
  output_video.disposition = input_video.disposition;
  constexpr std::array kOfTheStream{AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
                                    AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_STEREO3D, AV_PKT_DATA_SPHERICAL};
  for (const AVPacketSideDataType type : kOfTheStream) copy_side_data(output_video, input_video, type);
  copy_frame_side_data(output_video, first, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA,
                       AV_PKT_DATA_MASTERING_DISPLAY_METADATA);
  copy_frame_side_data(output_video, first, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_CONTENT_LIGHT_LEVEL);
}

void copy_chapters(AVFormatContext& output, const AVFormatContext& input, std::int64_t shift_us,
                   std::optional<double> length_s) {
  for (unsigned i = 0; i < input.nb_chapters; ++i) {
    const AVChapter& from = *input.chapters[i];
    const std::int64_t shift = av_rescale_q(shift_us, kMicroseconds, from.time_base);
    const std::int64_t begin = from.start - shift;
    const std::int64_t end = from.end == AV_NOPTS_VALUE ? from.end : from.end - shift;
    const bool before = end != AV_NOPTS_VALUE && end <= 0;
    const bool after = length_s && static_cast<double>(begin) * av_q2d(from.time_base) >= *length_s;
    if (before || after) continue;
    auto* to = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
    if (to == nullptr) throw std::bad_alloc();
    to->id = from.id;
    to->time_base = from.time_base;
    to->start = std::max<std::int64_t>(0, begin);
    to->end = end;
    copy_tags(&to->metadata, from.metadata);
    int count = static_cast<int>(output.nb_chapters);
    av_dynarray_add(&output.chapters, &count, to);
    output.nb_chapters = static_cast<unsigned>(count);
  }
}

}  // namespace framelane
