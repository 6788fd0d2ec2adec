// What comes out of MediaInput: which frames, with which times, from which memory; and what it says to bad input.
#include "pipeline/media_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "kernels/errors.h"
#include "pipeline/av_compat.h"
#include "pipeline/pixel_format.h"
#include "tests/media/media_fixture.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace framelane::testing {
namespace {

constexpr const char* kMovingPicture = "-f lavfi -i testsrc2=s=320x240:r=25:d=2";

class MediaInputTest : public MediaTest {
 protected:
  /** The number that a stamped frame shows (tests/stamped_clip.h). */
  static int stamp(const AVFrame& frame) {
    int number = 0;
    for (int bit = 0; bit < 16; ++bit) {
      const int x = (2 * bit + 1) * frame.width / 32;
      number |= (frame.data[0][frame.height / 2 * frame.linesize[0] + x] > 128 ? 1 : 0) << bit;
    }
    return number;
  }

  static std::vector<Stamp> read_all(MediaInput& input) {
    std::vector<Stamp> stamps;
    const auto [num, den] = input.time_base();
    while (const AvFrame frame = input.read_frame()) {
      stamps.push_back({stamp(*frame), static_cast<double>(frame->pts) * num / den});
    }
    return stamps;
  }
  std::vector<Stamp> read_all(const MediaInputOptions& options) const {
    MediaInput input(options, make_pool());
    return read_all(input);
  }

  static std::vector<int> numbers(const std::vector<Stamp>& stamps) {
    std::vector<int> result;
    for (const Stamp& stamp : stamps) result.push_back(stamp.number);
    return result;
  }
  static std::vector<int> range(int first, int last) {
    std::vector<int> result(static_cast<std::size_t>(last - first + 1));
    std::iota(result.begin(), result.end(), first);
    return result;
  }

  std::string input_error(const std::string& name) const {
    return error_of<InputError>(std::filesystem::path(name).filename().string(), [&] {
      MediaInput opened(input(name), make_pool());
      while (opened.read_frame()) continue;
    });
  }
};

TEST_F(MediaInputTest, GivesAllFramesOfShortClipsWithReorderedFrames) {
  for (const int frames : {1, 2, 3, 4, 5, 50}) {
    make_stamped_clip(file("s.mp4"), frames, 320, 240, "-c:v libx264 -bf 3 -x264-params b-adapt=0:b-pyramid=normal");
    for (const int threads : {1, 4}) {
      MediaInputOptions options = input("s.mp4");
      options.decoder_threads = threads;
      const std::vector<Stamp> stamps = read_all(options);
      EXPECT_EQ(numbers(stamps), range(0, frames - 1)) << threads << " threads";
      EXPECT_NEAR(stamps.back().pts_s, (frames - 1) / 25.0, 1e-6);
    }
  }
}

TEST_F(MediaInputTest, KeepsVariableFrameTimes) {
  ffmpeg(
      "-f lavfi -i color=s=320x240:r=30:d=2 -vf \"settb=1/90000,setpts='if(lt(N,30),N*3000,90000+(N-30)*9000)'\" "
      "-vsync vfr -video_track_timescale 90000 -c:v libx264 -bf 2 vfr.mp4");
  const std::vector<Stamp> stamps = read_all(input("vfr.mp4"));
  ASSERT_EQ(stamps.size(), 60U);
  for (int i = 0; i < 60; ++i) {
    EXPECT_NEAR(stamps[static_cast<std::size_t>(i)].pts_s, i < 30 ? i / 30.0 : 1 + (i - 30) / 10.0, 1e-6) << i;
  }
}

TEST_F(MediaInputTest, GivesRawStreamsWithoutClockRisingTimes) {
  make_stamped_clip(file("c.mkv"), 30);
  ffmpeg("-i c.mkv -c copy -f h264 raw.h264");
  MediaInput opened(input("raw.h264"), make_pool());
  EXPECT_FALSE(opened.duration_s());
  EXPECT_FALSE(opened.frame_count());
  const std::vector<Stamp> stamps = read_all(opened);
  EXPECT_EQ(numbers(stamps), range(0, 29));
  for (std::size_t i = 1; i < stamps.size(); ++i) EXPECT_NEAR(stamps[i].pts_s - stamps[i - 1].pts_s, 0.04, 1e-6) << i;
}

TEST_F(MediaInputTest, LeavesOutWhatAnEditListCutsOff) {
  make_stamped_clip(file("full.mp4"), 50);
  ffmpeg("-ss 0.5 -i full.mp4 -c copy -avoid_negative_ts disabled trimmed.mp4");
  ASSERT_EQ(frame_count("trimmed.mp4"), 37);
  EXPECT_EQ(numbers(read_all(input("trimmed.mp4"))), range(13, 49));
}

TEST_F(MediaInputTest, StartsTransportStreamsAtZeroWhateverTheirClock) {
  make_stamped_clip(file("w.mp4"), 100, 320, 240, "-c:v libx264 -bf 0");
  ffmpeg(
      "-i w.mp4 -f lavfi -i sine=d=4 -map 0:v -map 1:a -c:v copy -c:a aac -output_ts_offset 95441.7 -f mpegts wrap.ts");
  const std::vector<Stamp> stamps = read_all(input("wrap.ts"));
  EXPECT_EQ(numbers(stamps), range(0, 99));
  EXPECT_NEAR(stamps.front().pts_s, 0, 0.1);  // the sound's first packet begins up to three frames before
  EXPECT_NEAR(stamps.back().pts_s - stamps.front().pts_s, 3.96, 1e-4);
}

TEST_F(MediaInputTest, ClosesARestartOfTheClock) {
  make_stamped_clip(file("w.mp4"), 100, 320, 240, "-c:v libx264 -bf 2");
  ffmpeg("-i w.mp4 -f lavfi -i sine=d=4 -map 0:v -map 1:a -c:v copy -c:a aac -f mpegts one.ts");
  shell("cat one.ts one.ts > restart.ts");
  const std::vector<Stamp> stamps = read_all(input("restart.ts"));
  ASSERT_EQ(stamps.size(), 200U);
  for (std::size_t i = 1; i < stamps.size(); ++i) EXPECT_GT(stamps[i].pts_s, stamps[i - 1].pts_s) << i;
  EXPECT_NEAR(stamps.back().pts_s - stamps.front().pts_s, 7.96, 0.15);
}

TEST_F(MediaInputTest, KeepsAJumpThatAFileHolds) {
  make_stamped_clip(file("w.mp4"), 100, 320, 240, "-c:v libx264 -bf 0");
  ffmpeg("-i w.mp4 -c copy -bsf:v \"setts=ts='if(gte(N,50),PTS+20*3600/TB,PTS)'\" jump.mkv");
  const std::vector<Stamp> stamps = read_all(input("jump.mkv"));
  EXPECT_EQ(numbers(stamps), range(0, 99));
  EXPECT_GT(stamps[50].pts_s - stamps[49].pts_s, 72000);
}

TEST_F(MediaInputTest, CutsExactlyBetweenKeyFrames) {
  make_stamped_clip(file("c.mp4"), 100, 320, 240, "-c:v libx264 -bf 2 -g 30");
  MediaInputOptions options = input("c.mp4");
  options.start_s = 1.5;   // frame 37.5
  options.duration_s = 1;  // to frame 62.5
  MediaInput opened(options, make_pool());
  EXPECT_NEAR(opened.duration_s().value(), 1, 1e-9);
  EXPECT_EQ(opened.frame_count(), 25);
  const std::vector<Stamp> stamps = read_all(opened);
  EXPECT_EQ(numbers(stamps), range(38, 62));
  EXPECT_NEAR(stamps.front().pts_s, 0.02, 1e-6);
}

TEST_F(MediaInputTest, CutsInputsThatCannotBeSoughtIn) {
  make_stamped_clip(file("c.mkv"), 100);
  shell("mkfifo pipe; (cat c.mkv > pipe) > /dev/null 2>&1 &");
  MediaInputOptions options = input("pipe");
  options.start_s = 2;
  EXPECT_EQ(numbers(read_all(options)), range(50, 99));
}

TEST_F(MediaInputTest, SeeksInAFileThatIsStandardInput) {
  ffmpeg(
      "-f lavfi -i testsrc2=s=640x480:r=25:d=2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p in.mp4");  // index last
  const int before = dup(STDIN_FILENO);
  const int clip = ::open(file("in.mp4").c_str(), O_RDONLY);
  dup2(clip, STDIN_FILENO);
  close(clip);
  MediaInputOptions options;
  options.url = "-";
  EXPECT_EQ(read_all(options).size(), 50U);
  dup2(before, STDIN_FILENO);
  close(before);
}

TEST_F(MediaInputTest, SaysThatAnIndexAtTheEndDoesNotComeThroughAPipe) {
  ffmpeg("-f lavfi -i testsrc2=s=1280x720:r=25:d=4 -c:v libx264 -qp 10 -preset ultrafast -pix_fmt yuv420p in.mp4");
  shell("mkfifo pipe; (cat in.mp4 > pipe) > /dev/null 2>&1 &");
  LogRecorder log;
  const std::string message = input_error("pipe");
  EXPECT_NE(message.find("index"), std::string::npos) << message;
}

TEST_F(MediaInputTest, SaysThatTheStartIsBehindTheEnd) {
  make_stamped_clip(file("c.mp4"), 10);
  MediaInputOptions options = input("c.mp4");
  options.start_s = 5;
  const std::string message = error_of<InputError>("c.mp4", [&] { read_all(options); });
  EXPECT_NE(message.find("--start 5"), std::string::npos) << message;
}

TEST_F(MediaInputTest, NeverTakesACoverForTheVideo) {
  ffmpeg("-f lavfi -i color=red:s=600x600 -frames:v 1 cover.jpg");
  ffmpeg(std::string(kMovingPicture) +
         " -f lavfi -i sine=d=2 -i cover.jpg -map 2:v -map 0:v -map 1:a -c:v:0 mjpeg -disposition:v:0 attached_pic "
         "-c:v:1 libx264 -pix_fmt:v:1 yuv420p -c:a aac cov.mp4");
  ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=0.04 -i cover.jpg -map 1:v -map 0:v -c:v:0 mjpeg "
      "-disposition:v:0 attached_pic -c:v:1 libx264 -pix_fmt:v:1 yuv420p cov1.mp4");
  ffmpeg(std::string(kMovingPicture) +
         " -c:v libx264 -pix_fmt yuv420p -attach cover.jpg -metadata:s:t mimetype=image/jpeg "
         "-metadata:s:t filename=cover.jpg cov.mkv");
  for (const auto& [name, frames] : {std::pair("cov.mp4", 50), std::pair("cov1.mp4", 1), std::pair("cov.mkv", 50)}) {
    MediaInput opened(input(name), make_pool());
    EXPECT_EQ(opened.video_stream().codecpar->width, 320) << name;
    EXPECT_EQ(read_all(opened).size(), static_cast<std::size_t>(frames)) << name;
  }
}

TEST_F(MediaInputTest, CropsToTheSizeThatTheStreamDeclares) {
  ffmpeg("-f lavfi -i testsrc2=s=326x246:r=25:d=0.2 -c:v libx264 -qp 0 -pix_fmt yuv420p plain.h264");
  ffmpeg("-i plain.h264 -c copy -bsf:v h264_metadata=crop_left=6:crop_right=14:crop_top=2:crop_bottom=12 crop.h264");
  const std::string whole = pixels("plain.h264", "gray");
  MediaInput opened(input("crop.h264"), make_pool());
  const AvFrame frame = opened.read_frame();
  ASSERT_EQ(frame->width, 316);
  ASSERT_EQ(frame->height, 242);
  std::string row(reinterpret_cast<const char*>(frame->data[0] + 5 * frame->linesize[0]), 316);
  ffmpeg("-i plain.h264 -frames:v 1 -vf extractplanes=y -f rawvideo luma.raw");
  const std::string luma = shell("cat luma.raw");
  EXPECT_TRUE(row == luma.substr(std::size_t{326} * 7 + 6, 316));
}

/** Zero-copy: one block of the pool a frame, with pitches that kernels and codecs can rely on. */
TEST_F(MediaInputTest, DecodesIntoThePool) {
  for (const char* format : {"yuv420p", "yuv422p10le", "yuv444p", "gray"}) {
    ffmpeg(fmt::format("-f lavfi -i testsrc2=s=322x242:r=25:d=0.4 -c:v libx264 -bf 2 -pix_fmt {} p.mp4", format));
    MediaInput opened(input("p.mp4"), make_pool());
    int frames = 0;
    while (const AvFrame frame = opened.read_frame()) {
      ++frames;
      ASSERT_NE(frame->buf[0], nullptr);
      EXPECT_EQ(frame->buf[1], nullptr) << format;
      EXPECT_TRUE(HostPool::is_pooled(*frame->buf[0])) << format;
      const FrameView view = view_frame(*frame);
      for (int plane = 0; plane < view.format.pixel.plane_count(); ++plane) {
        EXPECT_EQ(view.planes[static_cast<std::size_t>(plane)].pitch_bytes % 64, 0) << format;
      }
    }
    EXPECT_EQ(frames, 10);
  }
}

/** The pool grows to what is in flight, and no further. */
TEST_F(MediaInputTest, AllocatesNothingInSteadyState) {
  make_stamped_clip(file("c.mp4"), 300, 160, 128, "-c:v libx264 -bf 3 -preset ultrafast");
  const std::shared_ptr<Device> device = create_cpu_device();
  MediaInput opened(input("c.mp4"), std::make_shared<HostPool>(device));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(opened.read_frame());
  const AllocationCounts before = device->allocations();
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(opened.read_frame());
  EXPECT_EQ(device->allocations(), before);
}

TEST_F(MediaInputTest, ReadsFilesWithAwkwardNames) {
  make_stamped_clip(file("base.mp4"), 10);
  ffmpeg("-f lavfi -i testsrc=s=64x48 -frames:v 1 base.png");
  for (const char* name : {"100%done", "a%03d", "-dash", "tr:ack 01:02", "файл 日本語 é", "two  words", "quo'te\"s",
                           "[br]{a}*?", "new\nline", "back\\slash"}) {
    for (const auto& [base, frames] : {std::pair(".mp4", 10U), std::pair(".png", 1U)}) {
      std::filesystem::copy_file(file(std::string("base") + base), file(name + std::string(base)));
      EXPECT_EQ(read_all(input(name + std::string(base))).size(), frames) << name << base;
    }
  }
  std::filesystem::copy_file(file("base.mp4"), file("noext"));
  std::filesystem::copy_file(file("base.mp4"), file("wrong.jpg"));
  EXPECT_EQ(read_all(input("noext")).size(), 10U);
  EXPECT_EQ(read_all(input("wrong.jpg")).size(), 10U);
}

TEST_F(MediaInputTest, ReadsImagesOfManyFormats) {
  for (const char* name : {"i.png", "i.jpg", "i.bmp", "i.tif", "i.tga", "i.ppm", "i.webp", "i.gif", "i.jp2"}) {
    ffmpeg(std::string("-f lavfi -i testsrc=s=64x48 -frames:v 1 ") + name);
    MediaInput opened(input(name), make_pool());
    const AvFrame frame = opened.read_frame();
    ASSERT_TRUE(frame) << name;
    EXPECT_EQ(frame->width, 64) << name;
    EXPECT_FALSE(opened.read_frame()) << name;
  }
}

TEST_F(MediaInputTest, GrayPicturesAreFullRange) {
  ffmpeg("-f lavfi -i color=black:s=256x16,format=gray,geq=lum=X -frames:v 1 g.png");
  ffmpeg("-i g.png g.tif");
  ffmpeg("-i g.png g.pgm");
  for (const char* name : {"g.png", "g.tif", "g.pgm"}) {
    const AvFrame frame = MediaInput(input(name), make_pool()).read_frame();
    EXPECT_EQ(frame_format(*frame).range, ColorRange::kFull) << name;
    EXPECT_EQ(frame->data[0][200], 200) << name;
  }
}

TEST_F(MediaInputTest, InkIsNotTransparency) {
  if (std::system("command -v convert > /dev/null") != 0) GTEST_SKIP() << "needs ImageMagick's convert";
  shell("convert -size 96x32 xc:red -fill lime -draw 'rectangle 32,0 63,31' -colorspace CMYK -quality 98 cmyk.jpg");
  const AvFrame frame = MediaInput(input("cmyk.jpg"), make_pool()).read_frame();
  EXPECT_FALSE(frame_format(*frame).pixel.alpha);
}

TEST_F(MediaInputTest, ReadsImageSequencesInTheOrderOfTheirNumbers) {
  make_stamped_clip(file("c.mkv"), 13, 160, 128, "-c:v ffv1");
  shell("mkdir p u h");
  ffmpeg("-i c.mkv -start_number 995 p/f_%04d.png");
  ffmpeg("-i c.mkv u/n%d.png");
  ffmpeg("-i c.mkv h/%03d.png");
  shell("rm h/007.png");
  const auto count = [&](const std::string& pattern) {
    MediaInput opened(input(pattern), make_pool());
    std::vector<double> times;
    while (const AvFrame frame = opened.read_frame()) times.push_back(static_cast<double>(frame->pts));
    return times.size();
  };
  EXPECT_EQ(count("p/f_%04d.png"), 13U);
  EXPECT_EQ(count("u/n%d.png"), 13U);
  LogRecorder log;
  EXPECT_EQ(count("h/%03d.png"), 6U);
  EXPECT_TRUE(log.contains("number 7 is missing: the 6 images after it are not read")) << log.lines();
  input_error("h/x%03d.png");
}

TEST_F(MediaInputTest, ReadsGraphs) {
  MediaInputOptions options;
  options.url = "lavfi:testsrc2=s=64x48:r=10:d=1";
  MediaInput opened(options, make_pool());
  EXPECT_DOUBLE_EQ(opened.frame_rate(), 10);
  EXPECT_EQ(read_all(opened).size(), 10U);
  EXPECT_FALSE(opened.is_live());

  options.url = "lavfi:nosuchfilter";
  error_of<InputError>("lavfi:nosuchfilter", [&] { MediaInput(options, make_pool()); });
}

TEST_F(MediaInputTest, PlaysAtItsOwnSpeed) {
  MediaInputOptions options;
  options.url = "lavfi:testsrc2=s=64x48:r=25:d=0.6";
  options.realtime = true;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(read_all(options).size(), 15U);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(elapsed.count(), 14 / 25.0 - 0.005);  // the last frame is due 14 intervals after the first
}

TEST_F(MediaInputTest, InterruptEndsAWaitForTheClock) {
  MediaInputOptions options;
  options.url = "lavfi:testsrc2=s=64x48:r=1/1000";  // the second frame is due in a quarter of an hour
  options.realtime = true;
  MediaInput opened(options, make_pool());
  ASSERT_TRUE(opened.read_frame());
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    opened.interrupt();
  });
  EXPECT_FALSE(opened.read_frame());
  later.join();
}

TEST_F(MediaInputTest, InterruptEndsAReadThatWaits) {
  make_stamped_clip(file("c.ts"), 200, 160, 128);
  shell("mkfifo pipe");
  // A writer that sends half a clip and then neither more nor the end.
  std::thread writer([&] {
    const std::string bytes = shell("cat c.ts");
    const int descriptor = ::open(file("pipe").c_str(), O_WRONLY);
    EXPECT_GT(write(descriptor, bytes.data(), bytes.size() / 2), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    close(descriptor);
  });
  MediaInputOptions options = input("pipe");
  options.demuxer_options = {{"probesize", "20000"}, {"analyzeduration", "100000"}};
  MediaInput opened(options, make_pool());
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    opened.interrupt();
  });
  const auto begin = std::chrono::steady_clock::now();
  while (opened.read_frame()) continue;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
  later.join();
  writer.join();
}

TEST_F(MediaInputTest, HoldsSidePacketsBackUntilTheVideoHasComeAsFar) {
  ffmpeg(std::string(kMovingPicture) +
         " -f lavfi -i sine=d=2 -c:v libx264 -bf 2 -pix_fmt yuv420p -c:a pcm_s16le av.mkv");
  MediaInput opened(input("av.mkv"), make_pool());
  double latest_s = -1;
  double video_s = 0;
  int packets = 0;
  opened.set_side_packet_sink([&](AvPacket packet, int) {
    latest_s = static_cast<double>(packet->pts) / 1000;
    EXPECT_LE(latest_s, video_s + 0.04);
    ++packets;
  });
  for (int i = 0; i < 20; ++i) {
    video_s = i / 25.0;
    ASSERT_TRUE(opened.read_frame());
  }
  opened.drain_side_packets(0.8);  // the cut: 20 frames
  EXPECT_GT(packets, 10);
  EXPECT_LT(latest_s, 0.8);
  EXPECT_GT(latest_s, 0.7);
}

TEST_F(MediaInputTest, HandsOnSoundThatIsLongerThanThePicture) {
  make_stamped_clip(file("v.mp4"), 50);
  ffmpeg("-i v.mp4 -f lavfi -i sine=d=5 -map 0:v -map 1:a -c:v copy -c:a aac vshort.mp4");
  MediaInput opened(input("vshort.mp4"), make_pool());
  double latest_s = 0;
  opened.set_side_packet_sink([&](AvPacket packet, int stream) {
    latest_s = static_cast<double>(packet->pts) * av_q2d(opened.format_context().streams[stream]->time_base);
  });
  EXPECT_EQ(read_all(opened).size(), 50U);
  EXPECT_GT(latest_s, 4.9);
}

TEST_F(MediaInputTest, ReadsTransparentWebm) {
  ffmpeg(
      "-f lavfi -i \"color=black:s=128x128:r=25:d=0.4,format=rgba,geq=r='if(lt(X,64),255,0)':g=0:b=0:"
      "a='if(lt(X,64),255,0)'\" -c:v libvpx-vp9 -pix_fmt yuva420p a.webm");
  const AvFrame frame = MediaInput(input("a.webm"), make_pool()).read_frame();
  const auto pixel = planar_format(frame->format);
  ASSERT_TRUE(pixel && pixel->alpha);
  EXPECT_GT(frame->data[3][10], 250);
  EXPECT_LT(frame->data[3][100], 5);
}

TEST_F(MediaInputTest, SkipsDamageAndSaysSo) {
  make_stamped_clip(file("good.ts"), 100, 320, 240, "-c:v libx264 -g 25 -bf 2 -f mpegts");
  shell(
      "cp good.ts bad.ts; S=$(stat -c %s bad.ts); head -c 3000 /dev/zero | tr '\\0' '\\377' | "
      "dd of=bad.ts bs=1 seek=$((S/2)) conv=notrunc status=none");
  LogRecorder log;
  MediaInput opened(input("bad.ts"), make_pool());
  const std::vector<Stamp> stamps = read_all(opened);
  const int expected = frame_count("bad.ts");
  EXPECT_NEAR(static_cast<double>(stamps.size()), expected, 1);
  EXPECT_GT(opened.damage().decode_errors, 0);
  EXPECT_NEAR(stamps.back().pts_s - stamps.front().pts_s, 3.96, 1e-3);
  EXPECT_EQ(stamps.back().number, 99);
}

TEST_F(MediaInputTest, DecodesWhatATruncatedFileHolds) {
  make_stamped_clip(file("f.mkv"), 100, 320, 240, "-c:v libx264 -g 25");
  make_stamped_clip(file("f.mp4"), 100, 320, 240, "-c:v libx264 -g 25 -movflags +faststart");
  for (const char* end : {"mkv", "mp4"}) {
    shell(fmt::format("head -c $(($(stat -c %s f.{0})*6/10)) f.{0} > trunc.{0}", end));
    LogRecorder log;
    const std::string name = std::string("trunc.") + end;
    const int expected = frame_count(name);
    ASSERT_GT(expected, 20);
    MediaInput opened(input(name), make_pool());
    EXPECT_NEAR(static_cast<double>(read_all(opened).size()), expected, 1) << name;
    EXPECT_TRUE(opened.damage().cut_short || opened.damage().decode_errors > 0) << name;
    EXPECT_TRUE(log.contains(name)) << log.lines();
  }
}

TEST_F(MediaInputTest, RefusesBadInputInOneLine) {
  ffmpeg("-f lavfi -i color=red:s=64x64 -frames:v 1 cover.jpg");
  ffmpeg(
      "-f lavfi -i sine=d=1 -i cover.jpg -map 0:a -map 1:v -c:a libmp3lame -c:v copy -disposition:v attached_pic "
      "-id3v2_version 3 cov.mp3");
  ffmpeg("-f lavfi -i sine=d=1 audio.wav");
  ffmpeg("-f lavfi -i testsrc2=s=320x240:r=25:d=4 -c:v libx264 f.mp4");
  shell("head -c 20000 f.mp4 > nomoov.mp4; : > empty.mp4; head -c 4096 /dev/zero > zeros.mp4; mkdir folder");
  write_text("text.mp4", "just a text\nof two lines\n");
  write_text("notes.txt", "just a text\nof two lines\n");
  write_text("text.png", "just a text\nof two lines\n");
  const std::pair<const char*, const char*> kCases[] = {
      {"missing.mp4", "no such file"},   {"folder", "is a directory"},      {"empty.mp4", "is empty"},
      {"zeros.mp4", "not a media file"}, {"nomoov.mp4", "moov atom"},       {"text.mp4", "not a media file"},
      {"notes.txt", "not a media file"}, {"cov.mp3", "no video stream"},    {"audio.wav", "no video stream"},
      {"text.png", "not a media file"},  {"missing/x.mp4", "no such file"},
  };
  LogRecorder log;
  for (const auto& [name, cause] : kCases) {
    const std::string message = input_error(name);
    EXPECT_NE(message.find(cause), std::string::npos) << message;
  }
  EXPECT_EQ(log.lines(), "");  // the exception's line is the only one
}

TEST_F(MediaInputTest, RefusesBadSourcesInOneLine) {
  MediaInputOptions options;
  options.url = "/dev/video99";
  error_of<InputError>("/dev/video99", [&] { MediaInput(options, make_pool()); });
  if (!std::filesystem::exists("/dev/video0")) {
    options.url = "camera";
    error_of<InputError>("/dev/video0", [&] { MediaInput(options, make_pool()); });
  }
  options.url = "tcp://me:secret@127.0.0.1:1";
  const std::string message =
      error_of<InputError>("tcp://me:***@127.0.0.1:1", [&] { MediaInput(options, make_pool()); });
  EXPECT_EQ(message.find("secret"), std::string::npos);
  options.url = "nosuchprotocol://host/x";
  error_of<InputError>("nosuchprotocol", [&] { MediaInput(options, make_pool()); });
}

TEST_F(MediaInputTest, RefusesOptionsThatTheFormatDoesNotHave) {
  make_stamped_clip(file("c.mp4"), 5);
  MediaInputOptions options = input("c.mp4");
  options.demuxer_options = {{"nosuchoption", "1"}};
  error_of<UsageError>("nosuchoption", [&] { MediaInput(options, make_pool()); });
  options.demuxer_options.clear();
  options.format = "nosuchformat";
  error_of<UsageError>("nosuchformat", [&] { MediaInput(options, make_pool()); });
}

TEST_F(MediaInputTest, SaysHowMuchWillCome) {
  make_stamped_clip(file("c.mp4"), 75);
  const MediaInput opened(input("c.mp4"), make_pool());
  EXPECT_NEAR(opened.duration_s().value(), 3, 1e-3);
  EXPECT_EQ(opened.frame_count(), 75);
  EXPECT_DOUBLE_EQ(opened.frame_rate(), 25);
  MediaInputOptions endless;
  endless.url = "lavfi:testsrc2=s=64x48";
  EXPECT_FALSE(MediaInput(endless, make_pool()).duration_s());
}

}  // namespace
}  // namespace framelane::testing
