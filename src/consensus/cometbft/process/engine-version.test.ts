import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { SILENT_LOGGER } from "../../../base/telemetry/logger.ts";
import { startEngineProcess } from "./engine-process.ts";
import { assertEngineVersion, builtVersion } from "./engine-version.ts";

const directory = mkdtempSync(join(tmpdir(), "evmint-engine-version-"));
after(() => rmSync(directory, { recursive: true }));

/** A program that says in Go's way what it was built of. */
function program(version: string | undefined): string {
  const path = join(directory, "cometbft");
  const modules = version === undefined ? "" : `# mod\tgithub.com/cometbft/cometbft\t${version}\th1:x=\n`;
  writeFileSync(path, `#!/bin/sh\n${modules}exit 0\n`, { mode: 0o755 });
  return path;
}

test("assertEngineVersion refuses another release, and neither a patch nor a program that names none", () => {
  for (const version of ["v1.0.1", "v0.38.17", "v0.39.4", "v0.400.0"]) {
    assert.equal(builtVersion(program(version)), version);
    assert.throws(() => assertEngineVersion(program(version)), {
      code: "COMETBFT_OTHER_VERSION",
      details: { binary: join(directory, "cometbft"), version },
    });
  }
  for (const version of ["v0.40.0", "v0.40.7", "(devel)", undefined]) {
    assert.doesNotThrow(() => assertEngineVersion(program(version)), version);
  }
  assert.doesNotThrow(() => assertEngineVersion(join(directory, "absent")));
});

test("startEngineProcess starts no program of another release", async () => {
  const modules = { log: SILENT_LOGGER, timers: fatalTimers };
  const start = (version: string) => startEngineProcess({ binary: program(version), directory, onFault() {} }, modules);
  assert.throws(() => start("v1.0.1"), { code: "COMETBFT_OTHER_VERSION" });
  assert.equal((await start("v0.40.0").exited).code, 0);
});
