#include "pipeline/frame_ring.h"

#include <gtest/gtest.h>

#include <thread>

namespace framelane::testing {
namespace {

class FrameRingTest : public ::testing::Test {
 protected:
  static FrameFormat format() {
    FrameFormat result;
    result.width = 16;
    result.height = 16;
    return result;
  }

  std::shared_ptr<Device> device = create_cpu_device();
  FilterChain chain{{}, format(), Backend::kCpu};
  FrameRing ring{*device, chain, 3};
};

TEST_F(FrameRingTest, HandsSlotsOnInOrder) {
  for (int frame = 0; frame < 3; ++frame) {
    Slot* slot = ring.acquire();
    slot->record.frame = frame;
    ring.push_decoded(slot);
  }
  EXPECT_EQ(ring.in_use(), 3);
  EXPECT_EQ(ring.try_acquire(), nullptr);
  for (int frame = 0; frame < 3; ++frame) {
    Slot* slot = ring.pop_decoded();
    EXPECT_EQ(slot->record.frame, frame);
    ring.push_submitted(slot);
  }
  for (int frame = 0; frame < 3; ++frame) {
    Slot* slot = ring.pop_submitted();
    EXPECT_EQ(slot->record.frame, frame);
    ring.release(slot);
  }
  EXPECT_EQ(ring.in_use(), 0);
}

TEST_F(FrameRingTest, FullRingBlocksTheDecoderUntilARelease) {
  Slot* slot = ring.acquire();
  ring.acquire();
  ring.acquire();
  std::atomic<bool> acquired{false};
  std::jthread decoder([&] {
    EXPECT_EQ(ring.acquire(), slot);
    acquired = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(acquired);
  ring.release(slot);
  decoder.join();
  EXPECT_TRUE(acquired);
}

TEST_F(FrameRingTest, DropsTheOldestWaitingFrame) {
  for (int frame = 0; frame < 3; ++frame) {
    Slot* slot = ring.acquire();
    slot->record.frame = frame;
    ring.push_decoded(slot);
  }
  bool dropped = false;
  EXPECT_EQ(ring.acquire_or_drop_oldest(dropped)->record.frame, 0);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(ring.pop_decoded()->record.frame, 1);
}

TEST_F(FrameRingTest, ClosedEndsAreDrainedFirst) {
  ring.push_decoded(ring.acquire());
  ring.close_decoded();
  EXPECT_NE(ring.pop_decoded(), nullptr);
  EXPECT_EQ(ring.pop_decoded(), nullptr);
  ring.close_submitted();
  EXPECT_EQ(ring.pop_submitted(), nullptr);
}

TEST_F(FrameRingTest, AbortWakesEveryone) {
  std::vector<std::jthread> threads;
  threads.emplace_back([&] { EXPECT_EQ(ring.pop_decoded(), nullptr); });
  threads.emplace_back([&] { EXPECT_EQ(ring.pop_submitted(), nullptr); });
  Slot* held = ring.acquire();
  threads.emplace_back([&] { ring.wait_until_empty(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ring.abort();
  threads.clear();
  EXPECT_EQ(ring.acquire(), nullptr);
  EXPECT_NE(held, nullptr);
}

TEST_F(FrameRingTest, EmptyMeansEverySlotIsFree) {
  Slot* slot = ring.acquire();
  ring.push_decoded(slot);
  ring.push_submitted(ring.pop_decoded());
  std::atomic<bool> empty{false};
  std::jthread decoder([&] {
    ring.wait_until_empty();
    empty = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(empty);
  ring.release(ring.pop_submitted());
  decoder.join();
  EXPECT_TRUE(empty);
}

}  // namespace
}  // namespace framelane::testing
