import { readFileSync, rmSync } from "node:fs";
import { NodeError } from "../base/errors.ts";
import type { Logger } from "../base/telemetry/logger.ts";
import type { Metrics } from "../base/telemetry/metrics.ts";
import { replaceFile } from "../store/storage/replace-file.ts";

/** The wall clock is implausible; the node makes no block until the operator confirms or corrects it. */
export class ClockJumpError extends NodeError {
  readonly code = "CLOCK_JUMP";
}

/** A smaller difference within one check is a clock being disciplined, not set. */
const JUMP_MS = 15_000;
/** Blocks made in quick succession can run ahead of the clock by this much. */
const BEHIND_HEAD_MS = 60_000;
/** 2100-01-01: a later clock is wrong, whatever the chain says. */
export const PLAUSIBLE_MS_MAX = Date.UTC(2100, 0, 1);

/** A larger forward jump of the clock stops block production until the operator confirms or corrects the clock. */
export const CLOCK_JUMP_LIMITS = {
  /** Normal clock corrections take seconds. */
  forwardMs: 3_600_000,
  /** For dev chains: a laptop's clock jumps by the time it slept. */
  forwardMsDev: 24 * 86_400_000,
} as const;

export type ClockWatchOptions = {
  /** A larger forward jump stops block production. */
  readonly forwardJumpMsMax: number;
  /** The operator has confirmed the clock: it never stops block production. */
  readonly isAccepted: boolean;
};

type ClockWatchModules = {
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  /** Milliseconds of a monotonic clock. On Linux it stops while the machine is suspended. */
  readonly monotonicClock: () => number;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "counter">;
  /** Stores that block production is stopped, so that a restart does not count as confirmation. */
  readonly clockStop: ClockStop;
};

/** Compares the wall clock, from which blocks get their timestamps, with the monotonic clock. */
export type ClockWatch = {
  /** Compares the clocks now; call it every few seconds and before each block. */
  check(): void;
  /** The last `check`'s reason why no block may be made; undefined if there is none. */
  problem(): ClockJumpError | undefined;
  /** Unix milliseconds for the next block. @throws ClockJumpError */
  now(): number;
};

/** @param headTimestamp of the head at the start, in seconds; undefined for a chain that has only its genesis */
export function createClockWatch(
  options: ClockWatchOptions,
  headTimestamp: number | undefined,
  { wallClock, monotonicClock, log, metrics, clockStop }: ClockWatchModules,
): ClockWatch {
  const jumps = metrics.counter({
    name: "clock_jumps_total",
    help: "Jumps of the wall clock: forward, backward, behind_head (at start), implausible (after 2099).",
    labels: ["kind"],
    values: ["forward", "backward", "behind_head", "implausible"],
  });
  /** Wall clock minus monotonic clock when the wall clock was last plausible. */
  let believed = wallClock() - monotonicClock();
  let problem: ClockJumpError | undefined;
  let isImplausibilityReported = false;
  if (options.isAccepted) clockStop.clear();
  /** The clock when an earlier run stopped block production; an earlier clock means that it was corrected since. */
  let stoppedAt = clockStop.read();

  function stop(message: string, kind: string, details: Record<string, unknown>): void {
    if (problem || (kind === "implausible" && isImplausibilityReported)) return;
    isImplausibilityReported = kind === "implausible";
    jumps.add(1, { kind });
    const error = new ClockJumpError(`${message}: correct the clock, or confirm it with --accept-clock`, details);
    if (!options.isAccepted) problem = error;
    log.error(problem ? "block production stopped until the clock is confirmed" : "clock accepted", { error });
  }

  function writeStop(wall: number): void {
    try {
      clockStop.write(wall);
    } catch (error) {
      log.error("could not store that block production is stopped: a restart would resume it", {
        error,
      });
    }
  }

  function believe(offset: number): void {
    believed = offset;
    if (problem === undefined) return;
    problem = undefined;
    clockStop.clear();
    log.info("the clock is correct again");
  }

  function check(): void {
    const wall = wallClock();
    const offset = wall - monotonicClock();
    const jump = offset - believed;
    const details = { clock: new Date(wall).toISOString(), jumpMs: Math.round(jump) };
    if (stoppedAt !== undefined) {
      if (wall >= stoppedAt) {
        stop("the clock jumped forward before the restart", "forward", { ...details, stoppedAt });
        return;
      }
      stoppedAt = undefined;
      clockStop.clear();
    }
    if (wall >= PLAUSIBLE_MS_MAX) {
      stop("the clock is after the year 2099", "implausible", details);
    } else if (jump > options.forwardJumpMsMax) {
      const isNew = problem === undefined;
      stop("the clock jumped forward", "forward", details);
      if (isNew && problem !== undefined) writeStop(wall);
    } else {
      if (Math.abs(jump) > JUMP_MS) {
        jumps.add(1, { kind: jump > 0 ? "forward" : "backward" });
        log.warn("the clock jumped", details);
      }
      believe(offset);
      return;
    }
    if (problem === undefined) believed = offset;
  }

  if (headTimestamp !== undefined) {
    const ahead = wallClock() - headTimestamp * 1000;
    const details = { headTimestamp, aheadMs: ahead };
    if (ahead < -BEHIND_HEAD_MS) {
      jumps.add(1, { kind: "behind_head" });
      log.warn("the clock is behind the head, so new blocks advance by one second each", details);
    } else if (ahead > options.forwardJumpMsMax) {
      log.info("the head is old; the next block closes the gap", details);
    }
  }
  check();
  return {
    check,
    problem: () => problem,
    now() {
      check();
      if (problem) throw problem;
      return wallClock();
    },
  };
}

/** Persists that a forward jump stopped block production. */
export type ClockStop = {
  /** The clock when block production was stopped, in Unix milliseconds; undefined if it was not. */
  read(): number | undefined;
  write(wallClockMs: number): void;
  clear(): void;
};

/** The stop in the file at `path`, whose folder must exist: Unix milliseconds in decimal. */
export function openClockStopFile(path: string): ClockStop {
  return {
    read() {
      let text: string;
      try {
        text = readFileSync(path, "latin1");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
      // A file that was emptied or edited still stops block production, at any clock.
      const wallClockMs = Number(text);
      return Number.isFinite(wallClockMs) ? wallClockMs : 0;
    },
    write: (wallClockMs) => replaceFile(path, `${Math.floor(wallClockMs)}\n`, 0o600),
    clear: () => rmSync(path, { force: true }),
  };
}
