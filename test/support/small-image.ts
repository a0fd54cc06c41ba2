import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

/** A picture whose pixels are the means of squares of a larger one: texts are grey in it, whatever their font; boxes and colours stay. */
export type SmallImage = Pick<PNG, "width" | "height" | "data">;

/** @param side of the squares; what is left over at the right and at the bottom is cut off */
export function shrink(file: Buffer, side: number): SmallImage {
  const large = PNG.sync.read(file);
  const small = new PNG({
    width: Math.floor(large.width / side),
    height: Math.floor(large.height / side),
  });
  for (let y = 0; y < small.height; y++) {
    for (let x = 0; x < small.width; x++) {
      for (let channel = 0; channel < 4; channel++) {
        small.data[(y * small.width + x) * 4 + channel] = meanOf(large, x, y, side, channel);
      }
    }
  }
  return small;
}

function meanOf({ data, width }: PNG, x: number, y: number, side: number, channel: number): number {
  let sum = 0;
  for (let row = y * side; row < (y + 1) * side; row++) {
    for (let column = x * side; column < (x + 1) * side; column++) {
      sum += data[(row * width + column) * 4 + channel]!;
    }
  }
  return Math.round(sum / (side * side));
}

export function encodePng({ width, height, data }: SmallImage): Buffer {
  const png = new PNG({ width, height });
  png.data.set(data);
  return PNG.sync.write(png);
}

export function decodePng(file: Buffer): SmallImage {
  return PNG.sync.read(file);
}

/** The part of the pixels, 0 to 1, whose colour differs to the eye; 1 where the sizes do. */
export function difference(a: SmallImage, b: SmallImage): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  const options = { threshold: 0.08, includeAA: true };
  return pixelmatch(a.data, b.data, undefined, a.width, a.height, options) / (a.width * a.height);
}
