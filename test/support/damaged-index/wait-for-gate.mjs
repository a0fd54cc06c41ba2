/** The thread that loads this waits for the file that its variable TEST_GATE names. */
import { existsSync } from "node:fs";

const nobody = new Int32Array(new SharedArrayBuffer(4));
while (!existsSync(process.env["TEST_GATE"])) Atomics.wait(nobody, 0, 0, 5);
