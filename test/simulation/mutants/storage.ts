import type { Plan } from "../scenario/plan.ts";
import { all, hasFault, hasSetting, hasTraffic, type Mutant } from "./mutant.ts";

const BLOCK_LOG = "src/store/storage/log/block-log.ts";
const LOG_FOLLOWER = "src/store/storage/log/log-follower.ts";

/** Blocks come so fast that retention has something to remove within minutes. */
const isFast = ({ blockTimeMs }: Plan) => blockTimeMs <= 250;

const hasSmallSegments = ({ nodes }: Plan) => nodes.every(({ segmentBytes }) => segmentBytes <= 16_384);

/** With some kilobytes left. */
const hasFullDisk = ({ faults }: Plan) => faults.some(({ kind, extent }) => kind === "full-disk" && extent < 0.5);

/** Faults in what is written to disk, and in its readers. */
export const STORAGE_MUTANTS: readonly Mutant[] = [
  {
    name: "log-record-not-synced",
    why: "A block is published while its record is in the page cache alone: a power cut takes it, as with a forgotten fdatasync.",
    patches: [
      {
        file: BLOCK_LOG,
        from: `    this.#sync(segment.file);\n    this.#failPoint("log:synced");`,
        to: `    this.#failPoint("log:synced");`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasFault("power-cut", "power-cut-at-write"),
    seedsMax: 20,
    checks: ["durability"],
  },
  {
    name: "log-folder-not-synced",
    why: "The name of a new segment is not made durable: a power cut takes the file with all blocks in it, as ext4 and XFS allow.",
    patches: [
      {
        file: BLOCK_LOG,
        from: `    this.#failPoint("log:segment");\n    this.#directory.sync();`,
        to: `    this.#failPoint("log:segment");`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasFault("power-cut", "power-cut-at-write"),
    seedsMax: 60,
    checks: ["durability", "liveness"],
  },
  {
    name: "torn-tail-not-cut",
    why: "What a crash left of a record stays at the end of the log: the start after it finds damage where nothing is damaged.",
    patches: [{ file: BLOCK_LOG, from: `        if (payload !== undefined) continue;\n`, to: `        continue;\n` }],
    plan: { engine: "solo" },
    suits: hasFault("power-cut-at-write", "full-disk"),
    seedsMax: 60,
    checks: ["liveness", "durability"],
  },
  {
    name: "failed-sync-forgotten",
    why: "After a failed fdatasync the log goes on, and the next one succeeds without the pages that the first could not write (fsyncgate).",
    patches: [
      {
        file: BLOCK_LOG,
        from: `      this.#poison = error as Error;\n      throw new LogPoisonedError("block log could not be synced", {}, { cause: error });`,
        to: `      throw new LogWriteError("block log could not be synced", {}, { cause: error });`,
      },
    ],
    // Few plans show it: the ones that were examined had no threads.
    plan: { engine: "solo", speculationThreads: 0 },
    suits: all(hasFault("failed-sync"), hasFault("power-cut", "power-cut-at-write")),
    seedsMax: 60,
    checks: ["durability", "liveness", "own fault", "agreement"],
  },
  {
    name: "segment-base-wrong",
    why: "A new segment is named for a position one too high: nothing is wrong until the log is opened again.",
    patches: [{ file: BLOCK_LOG, from: `    const base = this.end;\n`, to: `    const base = this.end + 1;\n` }],
    plan: { engine: "solo" },
    seedsMax: 20,
    checks: ["liveness", "own fault", "crash", "reader"],
  },
  {
    name: "index-trusted-after-reboot",
    why: "An index that was open when the machine went down is used again, though it is written without syncs.",
    patches: [
      {
        file: "src/chain/store/index/index-files.ts",
        from: `return boot !== undefined && text === \`open \${boot}\` ? "open" : undefined;`,
        to: `return boot !== undefined && text.startsWith("open ") ? "open" : undefined;`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("power-cut", "power-cut-at-write"), hasTraffic(20)),
    seedsMax: 60,
    checks: ["liveness", "answers", "reader", "own fault", "durability", "agreement", "crash"],
  },
  {
    name: "checkpoint-before-rows",
    why: "The index says that blocks are in its rows before they are: a kill in the middle of the merge loses them from the index.",
    patches: [
      {
        file: "src/chain/store/index/index-merge.ts",
        from: `    this.#kv.transaction((writer) => writer.put(metaKey(META.mergingBlocks), row));`,
        to: `    this.#kv.transaction((writer) => writer.put(metaKey(META.checkpoint), row));`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("kill-at-write"), hasTraffic(20)),
    seedsMax: 40,
    checks: ["liveness", "answers", "reader", "own fault", "agreement", "model", "crash"],
  },
  {
    name: "removed-segments-stay-open",
    why: "A reader in another process closes no segment that retention has removed: the disk fills though the folder is small.",
    patches: [
      {
        file: LOG_FOLLOWER,
        from: `    while (this.segments.length > 0 && this.segments[0]!.base < start) {`,
        to: `    while (start < 0 && this.segments.length > 0) {`,
      },
    ],
    plan: { engine: "solo", durationMs: 900_000 },
    suits: all(hasSetting("chain.retain-blocks"), isFast, hasTraffic(20), hasSmallSegments),
    seedsMax: 30,
    checks: ["bounds"],
  },
  {
    name: "retention-removes-one-too-many",
    why: "One block more than the settings allow is removed: the oldest that is promised is gone.",
    patches: [
      {
        file: "src/chain/store/retention/pruner.ts",
        from: `Math.min(merged, head - retained + 1));`,
        to: `Math.min(merged, head - retained + 2));`,
      },
    ],
    plan: { engine: "solo", durationMs: 120_000 },
    suits: all(hasSetting("chain.retain-blocks", "state.history"), isFast),
    seedsMax: 30,
    checks: ["retention"],
  },
  {
    name: "made-folder-not-synced",
    why: "A new folder's name is not made durable: a power cut soon after the first start takes the whole log with it.",
    patches: [
      {
        file: "src/store/storage/make-folder.ts",
        from: `    mkdirSync(path, { mode: 0o700 });\n    syncDirectory(above);`,
        to: `    mkdirSync(path, { mode: 0o700 });`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasFault("power-cut", "power-cut-at-write"),
    seedsMax: 60,
    checks: ["durability", "liveness"],
  },
  {
    name: "replaced-file-not-synced",
    why: "A file takes its place before its content is on disk: after a power cut it is there and empty, as with rename without fsync.",
    patches: [
      {
        file: "src/store/storage/replace-file.ts",
        from: `      writeFileSync(file, content);\n      fsyncSync(file);`,
        to: `      writeFileSync(file, content);`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasFault("power-cut", "power-cut-at-write"),
    seedsMax: 60,
    checks: ["liveness", "own fault", "durability"],
  },
  {
    name: "head-moves-before-append",
    why: "A block is the head before it is stored: where storing it fails, the next one follows a block that is nowhere.",
    patches: [
      {
        file: "src/chain/chain.ts",
        from: `      store.append(record, nodes);\n      head = record;`,
        to: `      head = record;\n      store.append(record, nodes);`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasFault("full-disk", "failed-sync"),
    seedsMax: 60,
    checks: ["own fault", "durability", "liveness", "agreement", "crash"],
  },
  {
    name: "follower-ignores-hole",
    why: "A reader that lags behind a removed segment counts the hole as part of the segment before it, and fails from then on.",
    patches: [
      {
        file: "src/store/storage/log/log-follower.ts",
        from: `      if (last !== undefined && last.base + last.file.size() !== base) this.close();`,
        to: `      if (last === undefined) this.close();`,
      },
    ],
    plan: { engine: "solo", durationMs: 600_000 },
    suits: all(
      hasSetting("chain.retain-blocks"),
      hasTraffic(20),
      ({ blockTimeMs, nodes }) => blockTimeMs <= 250 && nodes[0]!.segmentBytes <= 65_536,
    ),
    seedsMax: 20,
    checks: ["reader"],
  },
  {
    name: "checksum-not-verified",
    why: "A record counts as whole by its marker and length: what a power cut tore is decoded.",
    patches: [
      {
        file: "src/store/storage/log/log-segment.ts",
        from: `  return extendCrc32(payloadSum, bytes, 4, 8) === bytes.readUInt32LE(8);`,
        to: `  return payloadSum >= 0;`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("power-cut-at-write"), hasTraffic(60)),
    seedsMax: 80,
    checks: ["liveness", "durability", "own fault", "crash", "agreement", "model"],
  },
  {
    name: "free-space-guard-off",
    why: "Blocks are taken while the disk has no space for the pages of the index: a mapped file with holes ends the process with SIGBUS.",
    patches: [
      {
        file: "src/chain/store/write-guard.ts",
        from: `this.#poison === undefined && this.#freeBytes() >= FREE_BYTES_MIN;`,
        to: `this.#poison === undefined && this.#freeBytes() >= 0;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasFullDisk,
    seedsMax: 40,
    checks: ["crash", "own fault", "durability", "liveness"],
  },
];
