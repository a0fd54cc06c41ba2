import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTROL_CHARACTERS } from "../../test/support/base/telemetry/control-characters.ts";
import { fakeContext, fakeListener, fakeNode } from "../../test/support/cli/fake-context.ts";
import { escapeControlsInLines } from "../base/telemetry/escape-controls.ts";
import type { Config } from "../node/config/config.ts";
import { loadConfig } from "../node/config/load.ts";
import { renderBanner } from "./banner.ts";
import { doctor } from "./doctor/doctor.ts";
import type { System } from "./doctor/system.ts";
import { describeError, describeWithStack } from "./errors.ts";
import { runCli } from "./program.ts";
import { createProgress } from "./progress.ts";

/** Line feed and tab are our own in some of these; no path holds NUL. */
const HOSTILE = CONTROL_CHARACTERS.filter((each) => !["\0", "\n", "\t"].includes(each));
/** Of them in one text, which may be the name of a file. */
const AT_ONCE = 40;

const SYSTEM: System = {
  nodeVersion: "v0",
  memoryBytes: 2 ** 40,
  openFilesMax: undefined,
  isClockSynchronised: true,
  fileSystem: () => ({ freeBytes: 2 ** 40, freeFiles: undefined, isRemote: false }),
  hasPackage: () => true,
  programVersion: () => ({ built: undefined, printed: undefined }),
};

function configAt(home: string, dev: boolean): Config {
  return loadConfig({ home, dev, flags: {}, environment: {} }).config;
}

/** Each way by which the command line shows a text that it did not write itself. */
const SINKS: Readonly<Record<string, (hostile: string) => string | Promise<string>>> = {
  "an error": (hostile) => describeError(new Error(hostile)),
  "an error that is a string": (hostile) => describeError(hostile),
  "an error with its stack": (hostile) => describeWithStack(new Error(hostile)),
  "the banner": (hostile) =>
    renderBanner({
      version: "v0",
      config: configAt(`/none${hostile}`, false),
      chain: fakeNode().chain,
      listeners: [fakeListener({ url: `http://${hostile}` })],
      now: 0,
      color: false,
    }),
  "a finding of the doctor": async (hostile) => {
    const { context, output } = fakeContext();
    await doctor(configAt(`/none${hostile}`, true), context, { peers: [] }, SYSTEM);
    return output.stdout;
  },
  progress: (hostile) => {
    const { context, output } = fakeContext();
    createProgress(hostile, context).show({ done: 1, total: 2, unit: "blocks" });
    return output.stderr;
  },
  "an error of use": async (hostile) => {
    const { context, output } = fakeContext();
    await runCli([`--x${hostile}`], context);
    return output.stderr;
  },
  "an error of a command": async (hostile) => {
    const { context, output } = fakeContext();
    await runCli(["explorer", "--rpc", `ftp:${hostile}`], context);
    return output.stderr;
  },
};

for (const [name, show] of Object.entries(SINKS)) {
  test(`${name} has no raw control character`, async () => {
    for (let at = 0; at < HOSTILE.length; at += AT_ONCE) {
      const shown = await show(`a${HOSTILE.slice(at, at + AT_ONCE).join("b")}c`);
      assert.notEqual(shown, "");
      assert.equal(shown, escapeControlsInLines(shown));
    }
  });
}
