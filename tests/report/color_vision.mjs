// How far apart colours look, also to people who see two kinds of cones: Machado, Oliveira and Fernandes (2009),
// severity 1, then the distance in OKLab (Ottosson 2020) times 100.

const VISION = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const TO_CONES = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_LAB = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];

const multiply = (matrix, vector) => matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));
const linear = (code) => (code <= 0.04045 * 255 ? code / 255 / 12.92 : ((code / 255 + 0.055) / 1.055) ** 2.4);
const clip = (value) => Math.min(1, Math.max(0, value));

function oklab(rgb, vision) {
  const seen = multiply(vision, rgb.map(linear)).map(clip);
  return multiply(TO_LAB, multiply(TO_CONES, seen).map(Math.cbrt));
}

/** The least distance of any two of the colors, each [r, g, b] of 0 to 255, over all kinds of vision. */
export function leastDistance(colors) {
  let least = Infinity;
  for (const vision of Object.values(VISION)) {
    const labs = colors.map((color) => oklab(color, vision));
    labs.forEach((a, i) =>
      labs.slice(0, i).forEach((b) => {
        least = Math.min(least, 100 * Math.hypot(...a.map((value, k) => value - b[k])));
      }),
    );
  }
  return least;
}

export function contrast(a, b) {
  const [x, y] = [a, b].map((color) => multiply([[0.2126, 0.7152, 0.0722]], color.map(linear))[0] + 0.05);
  return Math.max(x, y) / Math.min(x, y);
}
