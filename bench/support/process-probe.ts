import { readdirSync, readFileSync } from "node:fs";
import { WebSocket } from "ws";

/** What a process holds at one moment, after a full garbage collection. */
export type Holdings = {
  readonly heapBytes: number;
  /** Memory of buffers and native objects that the heap refers to. */
  readonly externalBytes: number;
  /** Resident memory that no file stands behind: mapped database pages are left out. */
  readonly anonymousBytes: number;
  readonly residentBytes: number;
  /** Handles and timers that keep the event loop going, by kind. */
  readonly handles: Readonly<Record<string, number>>;
  readonly openFiles: number;
};

type InspectorAnswer = {
  readonly id: number;
  readonly result?: { readonly result?: { readonly value?: string } };
  readonly error?: { readonly message: string };
};

/** Looks into a Node.js process that was started with `--inspect=127.0.0.1:PORT`. */
export class ProcessProbe {
  readonly #pid: number;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: InspectorAnswer) => void>();
  #nextId = 1;

  private constructor(pid: number, socket: WebSocket) {
    this.#pid = pid;
    this.#socket = socket;
    socket.on("message", (data) => {
      const answer = JSON.parse(data.toString()) as InspectorAnswer;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  static async open(pid: number, inspectorPort: number): Promise<ProcessProbe> {
    const response = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`);
    const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[];
    const socket = new WebSocket(target!.webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return new ProcessProbe(pid, socket);
  }

  async holdings(): Promise<Holdings> {
    // Twice: what finalizers let go of in the first is collected in the second.
    for (let i = 0; i < 2; i++) await this.#ask("HeapProfiler.collectGarbage", {});
    const { memory, resources } = JSON.parse(
      await this.#evaluate(
        "JSON.stringify({ memory: process.memoryUsage(), resources: process.getActiveResourcesInfo() })",
      ),
    ) as { memory: NodeJS.MemoryUsage; resources: string[] };
    const handles: Record<string, number> = {};
    for (const kind of resources.sort()) handles[kind] = (handles[kind] ?? 0) + 1;
    const status = readFileSync(`/proc/${this.#pid}/status`, "latin1");
    return {
      heapBytes: memory.heapUsed,
      externalBytes: memory.external,
      anonymousBytes: Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) * 1024,
      residentBytes: memory.rss,
      handles,
      openFiles: readdirSync(`/proc/${this.#pid}/fd`).length,
    };
  }

  close(): void {
    this.#socket.close();
  }

  async #evaluate(expression: string): Promise<string> {
    const { result } = await this.#ask("Runtime.evaluate", { expression, returnByValue: true });
    return result?.result?.value ?? "";
  }

  async #ask(method: string, params: object): Promise<InspectorAnswer> {
    const id = this.#nextId++;
    this.#socket.send(JSON.stringify({ id, method, params }));
    const answer = await new Promise<InspectorAnswer>((resolve) => this.#waiting.set(id, resolve));
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer;
  }
}
