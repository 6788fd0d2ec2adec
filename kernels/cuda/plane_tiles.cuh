// All planes of a frame in one launch: each plane is cut into tiles, and the blocks of a one-dimensional grid are
// dealt out plane by plane. One dimension, because grid.y ends at 65535 and frames may be taller.
#pragma once

#include "kernels/frame.h"

namespace framelane {

/** Which blocks work on which plane. Passed to kernels by value. */
struct PlaneTiles {
  int first_block[kMaxPlanes] = {};
  int tiles_x[kMaxPlanes] = {};
  int planes = 0;
  int blocks = 0;

  /** Appends a plane of width x height samples in tiles of tile_width x tile_height. */
  void add(int width, int height, int tile_width, int tile_height) {
    first_block[planes] = blocks;
    tiles_x[planes] = (width + tile_width - 1) / tile_width;
    blocks += tiles_x[planes] * ((height + tile_height - 1) / tile_height);
    ++planes;
  }
};

/** A block's plane, and its tile's place in that plane, in tiles. */
struct TilePlace {
  int plane;
  int x;
  int y;
};

__device__ inline TilePlace tile_of_block(const PlaneTiles& tiles, int block) {
  int plane = 0;
  while (plane + 1 < tiles.planes && block >= tiles.first_block[plane + 1]) ++plane;
  const int tile = block - tiles.first_block[plane];
  return {plane, tile % tiles.tiles_x[plane], tile / tiles.tiles_x[plane]};
}

}  // namespace framelane
