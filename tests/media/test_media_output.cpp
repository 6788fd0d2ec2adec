// What MediaOutput writes, checked by the ffmpeg programs; and what it says to targets that cannot be.
#include "pipeline/media_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>

#include "kernels/errors.h"
#include "pipeline/pixel_format.h"
#include "pipeline/preprocess.h"
#include "tests/media/media_fixture.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane::testing {
namespace {

class MediaOutputTest : public MediaTest {
 protected:
  /** An encoded clip of moving pictures with sound. */
  void make_clip(const std::string& name, const std::string& options = "") const {
    ffmpeg(
        "-f lavfi -i testsrc2=s=320x240:r=25:d=2 -f lavfi -i sine=d=2 -c:v libx264 -preset ultrafast "
        "-pix_fmt yuv420p -c:a aac " +
        options + " " + name);
  }

  /** Hashes of a stream's packets: equal where they are the same bytes. */
  std::string packet_hashes(const std::string& name, const std::string& selector) const {
    return shell(fmt::format("ffmpeg -v error -nostdin -i '{}' -map 0:{} -c copy -f streamhash -", name, selector));
  }

  std::vector<double> frame_times(const std::string& name) const {
    std::vector<double> times;
    for (const Stamp& stamp : read_stamps(file(name))) times.push_back(stamp.pts_s);
    return times;
  }

  std::string output_error(const MediaOutputOptions& to, const std::string& named) const {
    return error_of<OutputError>(named, [&] { check_output_target(to, file("in.mp4")); });
  }
  std::string usage_error(const MediaOutputOptions& to, const std::string& named) const {
    return error_of<UsageError>(named, [&] { check_output_target(to, file("in.mp4")); });
  }
};

std::vector<int> numbers(const std::vector<Stamp>& stamps) {
  std::vector<int> result;
  for (const Stamp& stamp : stamps) result.push_back(stamp.number);
  return result;
}

std::vector<int> first_numbers(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST_F(MediaOutputTest, WritesEveryFrameOnceInOrder) {
  for (const int frames : {1, 2, 5, 50}) {
    make_stamped_clip(file("in.mp4"), frames);
    const Result result = transcode("in.mp4", "out.mp4");
    EXPECT_EQ(result.totals.frames, frames);
    EXPECT_EQ(result.totals.bytes, static_cast<std::int64_t>(std::filesystem::file_size(file("out.mp4"))));
    EXPECT_EQ(numbers(read_stamps(file("out.mp4"))), first_numbers(frames));
    EXPECT_EQ(stream("out.mp4", "v", "codec_name,pix_fmt"), "h264 yuv420p");
    EXPECT_NEAR(std::stod(entry("out.mp4", "format=duration")), frames / 25.0, 0.001);
    std::filesystem::remove(file("out.mp4"));
  }
}

TEST_F(MediaOutputTest, KeepsVariableFrameTimesAndSound) {
  ffmpeg(
      "-f lavfi -i color=s=320x240:r=30:d=2 -f lavfi -i sine=f=440:d=4 -filter:v \"settb=1/90000,"
      "setpts='if(lt(N,30),N*3000,90000+(N-30)*9000)'\" -vsync vfr -video_track_timescale 90000 -c:v libx264 -bf 0 "
      "-c:a aac vfr.mp4");
  for (const char* out : {"out.mp4", "out.mkv"}) {
    transcode("vfr.mp4", out);
    const std::vector<double> times = frame_times(out);
    ASSERT_EQ(times.size(), 60U) << out;
    for (int i = 0; i < 60; ++i) {
      EXPECT_NEAR(times[static_cast<std::size_t>(i)], i < 30 ? i / 30.0 : 1 + (i - 30) / 10.0, 0.0006) << out << i;
    }
  }
  EXPECT_NEAR(std::stod(stream("out.mp4", "v", "duration")), 3.97, 0.04);
  EXPECT_NEAR(std::stod(stream("out.mp4", "a", "duration")), 4, 0.03);
}

TEST_F(MediaOutputTest, LaysFramesOutInContainersOfConstantRate) {
  ffmpeg(
      "-f lavfi -i color=s=320x240:r=30:d=2 -vf \"settb=1/90000,setpts='if(lt(N,30),N*3000,90000+(N-30)*9000)'\" "
      "-vsync vfr -video_track_timescale 90000 -c:v libx264 -bf 0 vfr.mp4");
  MediaOutputOptions to = output("out.avi");
  to.encoder_options = {{"bf", "0"}};
  transcode(input("vfr.mp4"), to);
  EXPECT_EQ(stream("out.avi", "v", "r_frame_rate"), "30/1");
  EXPECT_NEAR(std::stod(entry("out.avi", "format=duration")), 3.93, 0.04);
  EXPECT_EQ(frame_count("out.avi"), 60);
}

TEST_F(MediaOutputTest, KeepsTracksChaptersAndTags) {
  write_text("s.srt", "1\n00:00:00,500 --> 00:00:01,500\nhello\n");
  write_text("meta.txt",
             ";FFMETADATA1\ntitle=My Title\ncomment=keep me\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=One\n"
             "[CHAPTER]\nTIMEBASE=1/1000\nSTART=1000\nEND=2000\ntitle=Two\n");
  ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=2 -f lavfi -i sine=f=440:d=2 -f lavfi -i sine=f=880:d=2 -i s.srt "
      "-i meta.txt -map 0 -map 1 -map 2 -map 3 -map_metadata 4 -map_chapters 4 -c:v libx264 -pix_fmt yuv420p -c:a aac "
      "-c:s srt -metadata:s:a:0 language=eng -metadata:s:a:1 language=fra -disposition:a:1 default "
      "-disposition:a:0 0 multi.mkv");
  const Result result = transcode("multi.mkv", "out.mkv");
  EXPECT_NE(result.description.find("2 audio, 1 subtitle copied"), std::string::npos) << result.description;
  EXPECT_EQ(entry("out.mkv", "stream=codec_type"), "video audio audio subtitle");
  EXPECT_EQ(stream("out.mkv", "a:0", "stream_tags=language"), "");
  EXPECT_EQ(entry("out.mkv", "stream_tags=language"), "eng fra");
  EXPECT_EQ(stream("out.mkv", "a:1", "stream_disposition=default"), "");
  EXPECT_EQ(shell("ffprobe -v error -select_streams a -show_entries stream_disposition=default -of csv=p=0 out.mkv"),
            "0\n1\n");
  EXPECT_EQ(entry("out.mkv", "format_tags=title,comment"), "My Title keep me");
  EXPECT_EQ(entry("out.mkv", "chapter_tags=title"), "One Two");
  EXPECT_EQ(entry("out.mkv", "chapter=start_time,end_time"), "0.000000 1.000000 1.000000 2.000000");
  for (const char* selector : {"a:0", "a:1", "s:0"}) {
    EXPECT_EQ(packet_hashes("multi.mkv", selector), packet_hashes("out.mkv", selector)) << selector;
  }
}

TEST_F(MediaOutputTest, TellsWhichStreamsItLeavesOut) {
  write_text("s.srt", "1\n00:00:00,500 --> 00:00:01,500\nhello\n");
  ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=1 -f lavfi -i sine=d=1 -i s.srt -map 0 -map 1 -map 2 -c:v libx264 "
      "-pix_fmt yuv420p -c:a aac -c:s srt in.mkv");
  LogRecorder log;
  transcode("in.mkv", "out.mp4");
  EXPECT_TRUE(log.contains("stream 2 (subrip subtitle) is left out: mp4 cannot hold it")) << log.lines();
  EXPECT_EQ(entry("out.mp4", "stream=codec_type"), "video audio");
}

TEST_F(MediaOutputTest, InventsNoSound) {
  make_stamped_clip(file("in.mp4"), 10);
  transcode("in.mp4", "out.mp4");
  EXPECT_EQ(entry("out.mp4", "stream=codec_type"), "video");
}

TEST_F(MediaOutputTest, KeepsCovers) {
  ffmpeg("-f lavfi -i color=red:s=600x600 -frames:v 1 cover.jpg");
  ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=1 -f lavfi -i sine=d=1 -i cover.jpg -map 2:v -map 0:v -map 1:a "
      "-c:v:0 mjpeg -disposition:v:0 attached_pic -c:v:1 libx264 -pix_fmt:v:1 yuv420p -c:a aac cov.mp4");
  for (const char* out : {"out.mp4", "out.mkv"}) {
    transcode("cov.mp4", out);
    EXPECT_EQ(frame_count(out), 25) << out;
    EXPECT_EQ(stream(out, "V", "width"), "320") << out;
    EXPECT_EQ(
        shell(fmt::format("ffprobe -v error -show_entries stream=width:stream_disposition=attached_pic -of csv=p=0 "
                          "{} | grep -c '600,1'",
                          out)),
        "1\n");
  }
  LogRecorder log;
  transcode("cov.mp4", "out.webm");
  EXPECT_TRUE(log.contains("cover picture) is left out")) << log.lines();
}

TEST_F(MediaOutputTest, KeepsAttachedFonts) {
  write_text("font.ttf", "not really a font");
  make_clip("in.mkv", "-attach font.ttf -metadata:s:t mimetype=application/x-truetype-font");
  transcode("in.mkv", "out.mkv");
  EXPECT_EQ(entry("out.mkv", "stream_tags=filename"), "font.ttf");
  shell("ffmpeg -v quiet -y -dump_attachment:t '' -i out.mkv -f null - && cmp font.ttf font.ttf");
}

TEST_F(MediaOutputTest, KeepsStartOffsetsAndUnequalLengths) {
  make_stamped_clip(file("v.mp4"), 75);
  ffmpeg("-i v.mp4 -itsoffset 1 -f lavfi -i sine=f=1000:d=2 -map 0:v -map 1:a -c:v copy -c:a aac alate.mp4");
  ffmpeg("-itsoffset 0.68 -i v.mp4 -f lavfi -i sine=f=1000:d=3.68 -map 0:v -map 1:a -c:v copy -c:a aac vlate.mp4");
  ffmpeg("-i v.mp4 -f lavfi -i sine=d=5 -map 0:v -map 1:a -c:v copy -c:a aac vshort.mp4");
  ffmpeg("-i v.mp4 -f lavfi -i sine=d=1 -map 0:v -map 1:a -c:v copy -c:a aac ashort.mp4");
  ffmpeg("-ss 0.5 -i vshort.mp4 -c copy -avoid_negative_ts disabled trimmed.mp4");
  for (const char* end : {"mp4", "mkv", "ts"}) {
    const auto out = [&](const char* name) { return fmt::format("o{}.{}", name, end); };
    const auto start = [&](const char* name, const char* selector) {
      return std::stod(stream(out(name), selector, "start_time"));
    };
    for (const char* name : {"alate", "vlate", "vshort", "ashort", "trimmed"}) {
      transcode(std::string(name) + ".mp4", out(name));
    }
    EXPECT_NEAR(start("alate", "a") - start("alate", "v"), 1, 0.025) << end;
    EXPECT_NEAR(start("vlate", "v") - start("vlate", "a"), 0.68, 0.025) << end;
    EXPECT_NEAR(start("trimmed", "a"), start("trimmed", "v"), 0.045) << end;
    EXPECT_EQ(frame_count(out("trimmed")), 62) << end;
    EXPECT_EQ(frame_count(out("vshort")), 75) << end;
    EXPECT_EQ(frame_count(out("ashort")), 75) << end;
  }
  EXPECT_NEAR(std::stod(stream("ovshort.mp4", "a", "duration")), 5, 0.03);
  EXPECT_NEAR(std::stod(stream("oashort.mp4", "a", "duration")), 1, 0.03);
}

TEST_F(MediaOutputTest, CutsAllStreamsAtOneTime) {
  make_clip("in.mp4", "-g 100 -bf 2");
  MediaInputOptions from = input("in.mp4");
  from.start_s = 0.5;
  from.duration_s = 1;
  transcode(from, output("cut.mp4"));
  EXPECT_EQ(frame_count("cut.mp4"), 25);
  EXPECT_NEAR(std::stod(stream("cut.mp4", "a", "duration")), 1, 0.05);
  EXPECT_NEAR(std::stod(stream("cut.mp4", "a", "start_time")), 0, 0.03);

  // A run that is stopped after 20 frames, though the decoder has read on by then.
  transcode(input("in.mp4"), output("stopped.mp4"), 20);
  EXPECT_EQ(frame_count("stopped.mp4"), 20);
  EXPECT_NEAR(std::stod(stream("stopped.mp4", "a", "duration")), 0.8, 0.05);
}

TEST_F(MediaOutputTest, MovesChaptersWithTheCut) {
  write_text("meta.txt",
             ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=400\ntitle=One\n[CHAPTER]\nTIMEBASE=1/1000\n"
             "START=400\nEND=1000\ntitle=Two\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=1900\nEND=2000\ntitle=Three\n");
  ffmpeg("-f lavfi -i testsrc2=s=320x240:r=25:d=2 -i meta.txt -map_chapters 1 -c:v libx264 -pix_fmt yuv420p in.mkv");
  MediaInputOptions from = input("in.mkv");
  from.start_s = 0.5;
  from.duration_s = 1;
  transcode(from, output("out.mkv"));
  EXPECT_EQ(entry("out.mkv", "chapter_tags=title"), "Two");
  EXPECT_EQ(entry("out.mkv", "chapter=start_time,end_time"), "0.000000 0.500000");
}

TEST_F(MediaOutputTest, KeepsTheRotation) {
  make_stamped_clip(file("q.mp4"), 10, 320, 180);
  ffmpeg("-i q.mp4 -c copy -metadata:s:v:0 rotate=90 rot90.mp4");
  const std::string rotation = "ffprobe -v error -show_entries stream_side_data=rotation -of csv=p=0 ";
  ASSERT_FALSE(shell(rotation + "rot90.mp4").empty());
  transcode("rot90.mp4", "out.mp4");
  EXPECT_EQ(shell(rotation + "out.mp4"), shell(rotation + "rot90.mp4"));
}

TEST_F(MediaOutputTest, KeepsTheSampleAspectRatioAndFieldOrder) {
  ffmpeg(
      "-f lavfi -i testsrc2=s=720x576:r=50:d=0.4,interlace=scan=tff:lowpass=off,setsar=64/45 -c:v mpeg2video "
      "-flags +ilme+ildct -top 1 -pix_fmt yuv420p il.mpg");
  transcode("il.mpg", "out.mkv");
  EXPECT_EQ(stream("out.mkv", "v", "sample_aspect_ratio,display_aspect_ratio"), "64:45 16:9");
  EXPECT_EQ(shell("ffprobe -v error -show_entries frame=interlaced_frame,top_field_first -of csv=p=0 out.mkv | "
                  "grep -o '1,1' | wc -l"),
            "10\n");
}

TEST_F(MediaOutputTest, KeepsColourTagsAndFullRange) {
  ffmpeg(
      "-f lavfi -i \"color=black:s=320x64:r=25:d=0.2,format=yuv420p,geq=lum='if(lt(X,80),0,if(lt(X,160),128,"
      "if(lt(X,240),235,255)))':cb=128:cr=128\" -color_range pc -colorspace bt709 -color_primaries bt709 "
      "-color_trc bt709 -c:v libx264 -qp 0 full.mp4");
  MediaOutputOptions to = output("out.mp4");
  to.encoder_options = {{"qp", "0"}};
  transcode(input("full.mp4"), to);
  EXPECT_EQ(stream("out.mp4", "v", "color_range,color_space,color_transfer,color_primaries"), "pc bt709 bt709 bt709");
  transcode("full.mp4", "out.png");
  transcode("full.mp4", "out.jpg");
  for (const auto& [name, tolerance] : {std::pair("out.mp4", 0), std::pair("out.png", 1), std::pair("out.jpg", 3)}) {
    const std::string levels = pixels(name, "gray");
    for (const auto& [x, level] : {std::pair(40, 0), std::pair(120, 128), std::pair(200, 235), std::pair(280, 255)}) {
      EXPECT_NEAR(static_cast<unsigned char>(levels[static_cast<std::size_t>(320 * 32 + x)]), level, tolerance) << name;
    }
  }
}

TEST_F(MediaOutputTest, TagsJpegVideoAsFullRange) {
  ffmpeg("-f lavfi -i testsrc2=s=320x240:r=25:d=0.2 -c:v mjpeg -q:v 2 -pix_fmt yuvj420p in.avi");
  transcode("in.avi", "out.mp4");
  EXPECT_EQ(stream("out.mp4", "v", "color_range"), "pc");
}

TEST_F(MediaOutputTest, KeepsHdrsStaticMetadata) {
  ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=0.2 -c:v libx265 -pix_fmt yuv420p10le -x265-params \"log-level=none:"
      "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400\" "
      "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc in.mp4");
  transcode("in.mp4", "out.mp4");
  EXPECT_EQ(stream("out.mp4", "v", "pix_fmt,color_space,color_transfer,color_primaries"),
            "yuv420p10le bt2020nc smpte2084 bt2020");
  const std::string data = shell("ffprobe -v error -show_streams out.mp4");
  EXPECT_NE(data.find("max_luminance=10000000/10000"), std::string::npos) << data;
  EXPECT_NE(data.find("max_content=1000"), std::string::npos) << data;
}

/** One edge line is repeated; the rest stays where it was. */
TEST_F(MediaOutputTest, ExtendsOddSizesByOneLine) {
  ffmpeg("-f lavfi -i testsrc=s=321x241:r=25:d=0.2 -c:v ffv1 -pix_fmt yuv420p o420.mkv");
  MediaOutputOptions to = output("out.mp4");
  to.encoder_options = {{"qp", "0"}};
  LogRecorder log;
  transcode(input("o420.mkv"), to);
  EXPECT_TRUE(log.contains("321x241 becomes 322x242")) << log.lines();
  EXPECT_EQ(stream("out.mp4", "v", "width,height"), "322 242");
  EXPECT_EQ(frame_count("out.mp4"), 5);
  ffmpeg("-i o420.mkv -frames:v 1 -vf extractplanes=y -f rawvideo before.raw");
  ffmpeg("-i out.mp4 -frames:v 1 -vf extractplanes=y -f rawvideo after.raw");
  const std::string before = shell("cat before.raw");
  const std::string after = shell("cat after.raw");
  for (std::size_t y = 0; y < 242; ++y) {
    for (std::size_t x = 0; x < 322; ++x) {
      ASSERT_EQ(after[y * 322 + x], before[std::min<std::size_t>(y, 240) * 321 + std::min<std::size_t>(x, 320)])
          << x << " " << y;
    }
  }
}

TEST_F(MediaOutputTest, KeepsOddSizesWhereTheEncoderTakesThem) {
  ffmpeg("-f lavfi -i testsrc=s=321x241:r=25:d=0.2 -c:v libx264 -pix_fmt yuv444p o444.mp4");
  ffmpeg("-f lavfi -i testsrc=s=321x241 -frames:v 1 o.png");
  transcode("o444.mp4", "out.mp4");
  EXPECT_EQ(stream("out.mp4", "v", "width,height,pix_fmt"), "321 241 yuv444p");
  transcode("o.png", "out.png");
  EXPECT_TRUE(pixels("out.png", "rgb24") == pixels("o.png", "rgb24"));
}

TEST_F(MediaOutputTest, KeepsEveryPixelOfPictures) {
  ffmpeg("-f lavfi -i testsrc=s=64x64,format=monob -frames:v 1 mono.png");
  ffmpeg("-f lavfi -i \"testsrc=s=64x64:d=0.04,split[a][b];[a]palettegen[p];[b][p]paletteuse\" -frames:v 1 pal.png");
  ffmpeg("-f lavfi -i color=black:s=256x64,format=gray,geq=lum=X -frames:v 1 gray.png");
  ffmpeg("-f lavfi -i color=black:s=1024x16,format=gray16le,geq=lum='X*64' -frames:v 1 gray16.png");
  ffmpeg("-f lavfi -i color=black:s=1024x16,format=rgb48le,geq=r='X*64':g='X*63':b='X*62' -frames:v 1 rgb48.png");
  ffmpeg("-f lavfi -i testsrc2=s=64x64,format=rgba,geq=r=X*4:g=Y*4:b=X+Y:a=X*4 -frames:v 1 rgba.png");
  const std::pair<const char*, const char*> kCases[] = {{"mono.png", "gray"},     {"pal.png", "rgba"},
                                                        {"gray.png", "gray"},     {"gray16.png", "gray16le"},
                                                        {"rgb48.png", "rgb48le"}, {"rgba.png", "rgba"}};
  for (const auto& [name, format] : kCases) {
    transcode(name, std::string("out-") + name);
    EXPECT_TRUE(pixels(std::string("out-") + name, format) == pixels(name, format)) << name;
  }
}

TEST_F(MediaOutputTest, KeepsTinyFrames) {
  for (const char* size : {"1x1", "2x2", "3x3", "5x4", "16x16", "1x240", "320x1"}) {
    ffmpeg(fmt::format("-f lavfi -i testsrc=s={}:r=25:d=0.4 -c:v ffv1 -pix_fmt yuv444p t.mkv", size));
    std::filesystem::remove(file("out.mkv"));
    MediaOutputOptions to = output("out.mkv");
    to.video_codec = "ffv1";
    transcode(input("t.mkv"), to);
    EXPECT_EQ(frame_count("out.mkv"), 10) << size;
    EXPECT_TRUE(pixels("out.mkv", "yuv444p") == pixels("t.mkv", "yuv444p")) << size;
  }
}

/** Formats that libx264 takes stay; the others go to the nearest, with a line in the log. */
TEST_F(MediaOutputTest, ChoosesThePixelFormat) {
  const std::tuple<const char*, const char*, const char*> kCases[] = {
      {"yuv420p", "yuv420p", ""},
      {"yuv422p10le", "yuv422p10le", ""},
      {"yuv444p", "yuv444p", ""},
      {"yuv420p12le", "yuv420p10le", "fewer bits"},
      {"gbrp", "yuv444p", "converting to yuv444p"},
      {"yuv440p", "yuv444p", "converting"},
      {"yuva420p", "yuv420p", "transparency on black"},
  };
  for (const auto& [from, to, told] : kCases) {
    ffmpeg(fmt::format("-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v ffv1 -pix_fmt {} in.mkv", from));
    std::filesystem::remove(file("out.mp4"));
    LogRecorder log;
    transcode("in.mkv", "out.mp4");
    EXPECT_EQ(stream("out.mp4", "v", "pix_fmt"), to) << from;
    EXPECT_TRUE(log.contains(told)) << from << log.lines();
    if (std::strlen(told) == 0) {
      EXPECT_FALSE(log.contains("converting")) << log.lines();
    }
  }
}

TEST_F(MediaOutputTest, RoundsWhereItCutsTheDepth) {
  ffmpeg(
      "-f lavfi -i color=black:s=1024x64:r=25:d=0.2,format=yuv420p10le,geq=lum=X:cb=512:cr=512 -color_range pc "
      "-c:v ffv1 ramp10.mkv");
  MediaOutputOptions to = output("out.y4m");
  transcode(input("ramp10.mkv"), to);
  EXPECT_EQ(stream("out.y4m", "v", "pix_fmt"), "yuv420p10le");  // as deep as the input
  transcode("ramp10.mkv", "out.png");
  const std::string levels = pixels("out.png", "gray16le");
  std::vector<int> seen;
  for (std::size_t x = 0; x < 1024; ++x) {
    seen.push_back(static_cast<unsigned char>(levels[2 * x]) | static_cast<unsigned char>(levels[2 * x + 1]) << 8);
  }
  EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 1024U);
}

TEST_F(MediaOutputTest, PutsTransparencyOnBlackWhereItMust) {
  ffmpeg(
      "-f lavfi -i \"color=black:s=128x64,format=rgba,geq=r=255:g=255:b=255:a='if(lt(X,64),255,if(lt(X,96),128,0))'\" "
      "-frames:v 1 a.png");
  transcode("a.png", "same.png");
  EXPECT_TRUE(pixels("same.png", "rgba") == pixels("a.png", "rgba"));
  transcode("a.png", "flat.ppm");
  const std::string flat = pixels("flat.ppm", "gray");
  EXPECT_EQ(static_cast<unsigned char>(flat[32]), 255);
  EXPECT_NEAR(static_cast<unsigned char>(flat[80]), 128, 1);
  EXPECT_EQ(static_cast<unsigned char>(flat[110]), 0);
}

TEST_F(MediaOutputTest, ChoosesAnEncoderForEachContainer) {
  make_clip("in.mp4");
  const std::pair<const char*, const char*> kCases[] = {
      {"out.mov", "h264"},       {"out.mkv", "h264"},     {"out.avi", "h264"},  {"out.ts", "h264"},
      {"out.flv", "h264"},       {"out.webm", "vp9"},     {"out.gif", "gif"},   {"out.apng", "apng"},
      {"out.mpg", "mpeg1video"}, {"out.y4m", "rawvideo"}, {"out.jpg", "mjpeg"}, {"out.nut", "h264"},
      {"out.png", "png"},
  };
  for (const auto& [name, codec] : kCases) {
    const Result result = transcode(input("in.mp4"), output(name), 10);
    EXPECT_TRUE(stream(name, "v", "codec_name").starts_with(codec)) << result.description;
    const bool still = std::string(codec) == "png" || std::string(codec) == "mjpeg";
    EXPECT_EQ(frame_count(name), still ? 1 : 10) << name;
  }
}

TEST_F(MediaOutputTest, TakesTheEncoderTheUserNames) {
  make_clip("in.mp4");
  for (const auto& [encoder, codec] : {std::pair("libx265", "hevc"), std::pair("mpeg4", "mpeg4"),
                                       std::pair("hevc", "hevc"), std::pair("ffv1", "ffv1")}) {
    std::filesystem::remove(file("out.mkv"));
    MediaOutputOptions to = output("out.mkv");
    to.video_codec = encoder;
    transcode(input("in.mp4"), to, 10);
    EXPECT_EQ(stream("out.mkv", "v", "codec_name"), codec);
    EXPECT_EQ(frame_count("out.mkv"), 10) << encoder;
  }
}

/** x264 writes its settings into the stream. */
TEST_F(MediaOutputTest, PassesSettingsOn) {
  make_clip("in.mp4");
  const auto settings = [&](const MediaOutputOptions& to) {
    transcode(input("in.mp4"), to, 10);
    const std::string text = shell("strings out.mp4 | grep 'x264 - core'");
    std::filesystem::remove(file("out.mp4"));
    return text;
  };
  MediaOutputOptions to = output("out.mp4");
  EXPECT_NE(settings(to).find("crf=20.0"), std::string::npos);
  EXPECT_NE(settings(to).find("subme=2"), std::string::npos);  // veryfast
  to.crf = 31;
  to.preset = "medium";
  EXPECT_NE(settings(to).find("crf=31.0"), std::string::npos);
  EXPECT_NE(settings(to).find("subme=7"), std::string::npos);
  to.crf.reset();
  to.bitrate = 300'000;
  EXPECT_NE(settings(to).find("rc=abr"), std::string::npos);
  EXPECT_NE(settings(to).find("bitrate=300"), std::string::npos);
  to.encoder_options = {{"g", "7"}, {"x264-params", "ref=2"}};
  EXPECT_NE(settings(to).find("keyint=7"), std::string::npos);
  EXPECT_NE(settings(to).find("ref=2"), std::string::npos);
}

TEST_F(MediaOutputTest, RefusesSettingsThatDoNotExist) {
  make_clip("in.mp4");
  const auto refuses = [&](const std::string& named, const std::function<void(MediaOutputOptions&)>& change) {
    MediaOutputOptions to = output("out.mp4");
    change(to);
    const std::string message = error_of<UsageError>(named, [&] { transcode(input("in.mp4"), to); });
    EXPECT_FALSE(std::filesystem::exists(to.url)) << message;
    return message;
  };
  refuses("nosuchcodec", [](auto& to) { to.video_codec = "nosuchcodec"; });
  EXPECT_NE(refuses("libx246", [](auto& to) { to.video_codec = "libx246"; }).find("did you mean libx26"),
            std::string::npos);
  refuses("aac", [](auto& to) { to.video_codec = "aac"; });
  refuses("copy", [](auto& to) { to.video_codec = "copy"; });
  refuses("nosuchoption", [](auto& to) { to.encoder_options = {{"nosuchoption", "1"}}; });
  refuses("nosuchoption", [](auto& to) { to.muxer_options = {{"nosuchoption", "1"}}; });
  refuses("nosuchpreset", [](auto& to) { to.preset = "nosuchpreset"; });
  refuses("[0 - 51]", [](auto& to) { to.crf = 99; });
  refuses("mpeg4", [](auto& to) { to.video_codec = "mpeg4", to.preset = "fast"; });
  refuses("mpeg4", [](auto& to) { to.video_codec = "mpeg4", to.crf = 20; });
  refuses("vp8", [](auto& to) { to.video_codec = "libvpx"; });
}

TEST_F(MediaOutputTest, WritesImageSequences) {
  make_stamped_clip(file("in.mp4"), 12, 160, 128);
  shell("mkdir p");
  transcode("in.mp4", "p/f_%04d.png");
  EXPECT_EQ(shell("ls p | wc -l; ls p | sed -n '1p;$p'"), "12\nf_0001.png\nf_0012.png\n");
  MediaOutputOptions again = output("p/f_%04d.png");
  EXPECT_NE(output_error(again, "f_%04d.png").find("12 such files exist"), std::string::npos);
  again.overwrite = Overwrite::kAllow;
  check_output_target(again, file("in.mp4"));
}

TEST_F(MediaOutputTest, WritesNamesAsTheyAre) {
  make_stamped_clip(file("in.mp4"), 3);
  ffmpeg("-i in.mp4 -frames:v 1 in.png");
  write_text("a001.png", "older");
  for (const char* name : {"100%done", "-dash", "tr:ack 01:02", "файл é", "quo'te\"s", "[br]{a}*?", "new\nline"}) {
    for (const auto& [from, end] : {std::pair("in.mp4", ".mp4"), std::pair("in.png", ".png")}) {
      transcode(from, name + std::string(end));
      EXPECT_TRUE(std::filesystem::exists(file(name + std::string(end)))) << name << end;
    }
  }
  MediaOutputOptions to = output("unused");
  to.url = "file:" + file("a%03d.png");
  transcode(input("in.png"), to);
  EXPECT_TRUE(std::filesystem::exists(file("a%03d.png")));
  EXPECT_EQ(shell("cat a001.png"), "older");
}

TEST_F(MediaOutputTest, RefusesBadTargetsBeforeAnyWork) {
  make_stamped_clip(file("in.mp4"), 3);
  write_text("older.mp4", "older");
  shell("mkdir folder; ln in.mp4 same.mp4; ln -s in.mp4 link.mp4");
  output_error(output("older.mp4"), "older.mp4");
  output_error(output("folder/"), "folder");
  output_error(output("missing/out.mp4"), "missing");
  output_error(output("older.mp4/out.mp4"), "older.mp4");
  output_error(output("/dev/null/out.mp4"), "/dev/null");
  usage_error(output("out.unknown"), "out.unknown");
  usage_error(output("noextension"), "noextension");
  MediaOutputOptions to = output("out.mp4");
  to.format = "nosuchformat";
  usage_error(to, "nosuchformat");
  to.format.clear();
  to.url = "-";
  EXPECT_NE(usage_error(to, "--format").find("matroska"), std::string::npos);
  to.url = "";
  usage_error(to, "no name");
  for (const char* name : {"in.mp4", "same.mp4", "link.mp4"}) {
    MediaOutputOptions onto = output(name);
    onto.overwrite = Overwrite::kAllow;
    EXPECT_NE(output_error(onto, name).find("is the input"), std::string::npos) << name;
  }
  EXPECT_EQ(shell("cat older.mp4"), "older");
}

TEST_F(MediaOutputTest, ReplacesAnOlderFileOnlyWhenDone) {
  make_stamped_clip(file("in.mp4"), 20);
  write_text("out.mp4", "older");
  shell("chmod 640 out.mp4; ln -s out.mp4 link.mp4");
  MediaOutputOptions to = output("link.mp4");
  to.overwrite = Overwrite::kAllow;
  MediaInput source(input("in.mp4"), make_pool());
  {
    const AvFrame frame = source.read_frame();
    MediaOutput target(to, source, *frame);
    target.encode(*frame);
    EXPECT_EQ(shell("cat out.mp4"), "older");
    EXPECT_EQ(shell("ls -A | grep -c framelane"), "1\n");
    target.abort();
    EXPECT_EQ(shell("cat out.mp4; ls -A | grep -c framelane || true"), "older0\n");
  }
  transcode(input("in.mp4"), to);
  EXPECT_EQ(frame_count("out.mp4"), 20);
  EXPECT_EQ(shell("stat -c %a out.mp4; ls -A | grep -c framelane || true"), "640\n0\n");
  EXPECT_TRUE(std::filesystem::is_symlink(file("link.mp4")));
}

TEST_F(MediaOutputTest, AbortLeavesAPlayableFileOrNone) {
  make_clip("in.mp4");
  for (const int frames : {0, 1, 20}) {
    std::filesystem::remove(file("out.mp4"));
    MediaInput source(input("in.mp4"), make_pool());
    AvFrame frame = source.read_frame();
    {
      MediaOutput target(output("out.mp4"), source, *frame);
      source.set_side_packet_sink(
          [&](AvPacket packet, int stream) { target.write_side_packet(std::move(packet), stream); });
      for (int i = 0; i < frames; ++i, frame = source.read_frame()) target.encode(*frame);
    }  // an exception would end it like this
    EXPECT_EQ(std::filesystem::exists(file("out.mp4")), frames > 0);
    if (frames > 0) {
      EXPECT_EQ(frame_count("out.mp4"), frames);
    }
  }
}

TEST_F(MediaOutputTest, TellsWriteErrors) {
  make_clip("in.mp4");
  MediaOutputOptions to = output("/dev/full");
  to.format = "matroska";
  const std::string message = error_of<OutputError>("/dev/full", [&] { transcode(input("in.mp4"), to); });
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
}

TEST_F(MediaOutputTest, TellsThatNobodyReadsAnyMore) {
  std::signal(SIGPIPE, SIG_IGN);
  ffmpeg("-f lavfi -i testsrc2=s=640x480:r=25:d=2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p in.mp4");
  shell("mkfifo pipe; (head -c 1000 pipe > head.out) > /dev/null 2>&1 &");
  MediaOutputOptions to = output("pipe");
  to.format = "yuv4mpegpipe";
  error_of<BrokenPipe>("pipe", [&] { transcode(input("in.mp4"), to); });
}

/** MP4 keeps its index at the end, or in fragments where nobody can go back. */
TEST_F(MediaOutputTest, FragmentsMp4InPipes) {
  make_clip("in.mp4");
  shell("mkfifo pipe; (cat pipe > piped.mp4) > /dev/null 2>&1 &");
  MediaOutputOptions to = output("pipe");
  to.format = "mp4";
  transcode(input("in.mp4"), to);
  shell("sleep 0.2");
  EXPECT_EQ(frame_count("piped.mp4"), 50);
}

TEST_F(MediaOutputTest, RawOutputHasNoPadding) {
  for (const int width : {318, 334, 350, 854}) {
    ffmpeg(fmt::format("-f lavfi -i testsrc2=s={}x64:r=25:d=0.2 -c:v ffv1 -pix_fmt yuv420p in.mkv", width));
    MediaOutputOptions to = output(fmt::format("{}.raw", width));
    to.format = "rawvideo";
    const Result result = transcode(input("in.mkv"), to);
    EXPECT_EQ(result.totals.bytes, 5 * width * 64 * 3 / 2);
    ffmpeg("-i in.mkv -f rawvideo expected.raw");
    shell(fmt::format("cmp expected.raw {}.raw", width));
  }
}

TEST_F(MediaOutputTest, GivesGifsTheirDelays) {
  ffmpeg(
      "-f lavfi -i \"color=red:s=64x48:r=100:d=1.6,format=rgb24,geq=r='if(lt(N,10),255,0)':"
      "g='if(between(N,10,59),255,0)':b='if(gte(N,60),255,0)',select='eq(n,0)+eq(n,10)+eq(n,60)'\" "
      "-vsync passthrough -final_delay 100 vd.gif");
  transcode("vd.gif", "out.mp4");
  EXPECT_EQ(frame_times("out.mp4"), (std::vector<double>{0, 0.1, 0.6}));
  EXPECT_NEAR(std::stod(entry("out.mp4", "format=duration")), 1.6, 0.001);
}

TEST_F(MediaOutputTest, MovesFramesWhoseTimeDoesNotRise) {
  make_stamped_clip(file("in.mkv"), 10);
  MediaInput source(input("in.mkv"), make_pool());
  AvFrame frame = source.read_frame();
  LogRecorder log;
  MediaOutput target(output("out.mkv"), source, *frame);
  for (int i = 0; i < 10; ++i) {
    if (i > 5) frame->pts = 100;
    target.encode(*frame);
    if (i < 9) frame = source.read_frame();
  }
  target.finish();
  const std::vector<double> times = frame_times("out.mkv");
  ASSERT_EQ(times.size(), 10U);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GT(times[i], times[i - 1]);
  EXPECT_TRUE(log.contains("does not rise")) << log.lines();
}

TEST_F(MediaOutputTest, CountsFramesForNull) {
  make_clip("in.mp4");
  const Result result = transcode("in.mp4", "null");
  EXPECT_EQ(result.totals.frames, 50);
  EXPECT_EQ(result.totals.bytes, 0);
}

}  // namespace
}  // namespace framelane::testing
