/** `node:zlib`: what Node does on its threads is done here at once, and answered in a later turn. */
import { Transform } from "node:stream";
import * as real from "node:zlib";
import { currentProcess } from "../kernel/current.ts";

export { constants, crc32, deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from "node:zlib";

type Done = (error: Error | null, result?: Buffer) => void;

function asynchronous(work: (input: Uint8Array, options?: object) => Buffer) {
  return (input: Uint8Array, options: object | Done, done?: Done) => {
    const callback = (done ?? options) as Done;
    const process = currentProcess();
    let result: Buffer;
    try {
      result = work(input, done === undefined ? undefined : (options as object));
    } catch (error) {
      process.after(0, () => callback(error as Error));
      return;
    }
    process.after(input.length / 50_000, () => callback(null, result));
  };
}

export const deflateRaw = asynchronous(real.deflateRawSync);
export const inflateRaw = asynchronous(real.inflateRawSync);
export const gzip = asynchronous(real.gzipSync);
export const gunzip = asynchronous(real.gunzipSync);

/** Works on everything that was written once that has ended: streams are of what fits into memory here. */
function streaming(work: (input: Uint8Array) => Buffer): () => Transform {
  return () => {
    const chunks: Uint8Array[] = [];
    return new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        chunks.push(chunk);
        done();
      },
      flush(done) {
        try {
          done(null, work(Buffer.concat(chunks)));
        } catch (error) {
          done(error as Error);
        }
      },
    });
  };
}

export const createGzip = streaming(real.gzipSync);
export const createGunzip = streaming(real.gunzipSync);
