import { FAULT_CHARS_MAX } from "./log-records.ts";

/** Why a run of CometBFT ended, as far as its exit status and its last words say. */
export type ExitFault =
  /** It says that the application is ahead of its store, which ends at `storeHeight`. */
  | { readonly kind: "applicationAhead"; readonly storeHeight: number }
  /** It has pruned blocks that the application has yet to execute. */
  | {
      readonly kind: "applicationBehind";
      readonly height: number;
      /** The first block that CometBFT has. */
      readonly storeBase: number;
    }
  /** A Go panic. */
  | { readonly kind: "panicked"; readonly text: string };

/** Exit status of a command of CometBFT that returned an error, and that of a Go program after a panic. */
const STATUS_ERROR = 1;
const STATUS_PANIC = 2;
const ERROR_PREFIX = "ERROR: ";
/** A panic is one line; its goroutines follow. */
const OPENINGS = [ERROR_PREFIX, "panic: ", "fatal error: "];
const WORDS_CHARS_MAX = 2_000;

/** state/errors.go of CometBFT v0.40, as consensus/replay.go, node/setup.go and run_node.go wrap it before any peer is connected. */
const HANDSHAKE =
  "ERROR: failed to create node: error during handshake: error on replay: app block height";
const AHEAD = new RegExp(`^${HANDSHAKE} \\((\\d{1,15})\\) is higher than core \\((\\d{1,15})\\)$`);
const BEHIND = new RegExp(
  `^${HANDSHAKE} \\((\\d{1,15})\\) is too far below block store base \\((\\d{1,15})\\)$`,
);

/**
 * What CometBFT writes to standard error: nothing while it runs, and the reason when it ends by itself. Its log goes to standard output. The
 * reason can quote a peer or a state sync server, line breaks included, so that only an exit with one reason, which is the last line, counts.
 */
export class LastWords {
  #reasons = 0;
  /** The newest line that begins a reason. */
  #reason: string | undefined;
  #isLast = false;

  add(line: string): void {
    if (line.trim() === "") return;
    this.#isLast = OPENINGS.some((opening) => line.startsWith(opening));
    if (!this.#isLast) return;
    this.#reasons++;
    this.#reason = line.slice(0, WORDS_CHARS_MAX);
  }

  /** For the log: undefined where it said nothing. */
  get text(): string | undefined {
    return this.#reason?.slice(0, FAULT_CHARS_MAX);
  }

  faultOf(status: number | null): ExitFault | undefined {
    if (status === STATUS_PANIC) return { kind: "panicked", text: this.text ?? "panic" };
    if (status !== STATUS_ERROR || this.#reasons !== 1 || !this.#isLast) return undefined;
    const ahead = AHEAD.exec(this.#reason!);
    if (ahead) return { kind: "applicationAhead", storeHeight: Number(ahead[2]) };
    const behind = BEHIND.exec(this.#reason!);
    if (behind === null) return undefined;
    return { kind: "applicationBehind", height: Number(behind[1]), storeBase: Number(behind[2]) };
  }
}
