import { closeSync, existsSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

/**
 * The functions of the vDSO, which the kernel maps into each process, that Go and Node.js read the wall clock with: each one's name, and
 * code that does the system call and adds seconds to the result. `clock_gettime` changes clock 0, CLOCK_REALTIME, alone.
 */
const CLOCKS: Readonly<Record<string, string>> = {
  // mov eax, 228; syscall; test edi, edi; jne end; add qword [rsi], SECONDS; end: ret
  __vdso_clock_gettime: "b8e40000000f0585ff7507488106SECONDSc3",
  // mov eax, 96; syscall; add qword [rdi], SECONDS; ret
  __vdso_gettimeofday: "b8600000000f05488107SECONDSc3",
};

/** Where the clock of a process can be moved; else why not. */
export function whyNoClockSkew(): string | false {
  if (process.platform !== "linux" || process.arch !== "x64") return "needs Linux on x86-64";
  return process.getuid?.() === 0 ? false : "needs root, to write to the memory of a process";
}

/** Moves the wall clocks of `pids` by `seconds`. @returns sets them right again where the processes still run */
export function skewClocks(pids: readonly number[], seconds: number): () => void {
  const originals = pids.map((pid) => {
    const { functions, memory } = clocksOf(pid);
    const edits = [...functions].map(([name, address]) => {
      const bytes = codeOf(name, seconds);
      const original = Buffer.alloc(bytes.length);
      readSync(memory, original, 0, original.length, address);
      return { address, bytes, original };
    });
    closeSync(memory);
    write(
      pid,
      edits.map(({ address, bytes }) => ({ address, bytes })),
    );
    return { pid, edits: edits.map(({ address, original: bytes }) => ({ address, bytes })) };
  });
  return () => {
    for (const { pid, edits } of originals) if (existsSync(`/proc/${pid}`)) write(pid, edits);
  };
}

function codeOf(name: string, seconds: number): Buffer {
  const operand = Buffer.alloc(4);
  operand.writeInt32LE(seconds);
  return Buffer.from(CLOCKS[name]!.replace("SECONDS", operand.toString("hex")), "hex");
}

/** Writes to the memory of a process, which is stopped meanwhile; its vDSO becomes a private copy. */
function write(pid: number, edits: readonly { readonly address: number; readonly bytes: Buffer }[]): void {
  process.kill(pid, "SIGSTOP");
  const memory = openSync(`/proc/${pid}/mem`, "r+");
  for (const { address, bytes } of edits) writeSync(memory, bytes, 0, bytes.length, address);
  closeSync(memory);
  process.kill(pid, "SIGCONT");
}

/** The memory of a process, and where its functions of `CLOCKS` are. */
function clocksOf(pid: number) {
  const maps = readFileSync(`/proc/${pid}/maps`, "utf8");
  const line = /^([0-9a-f]+)-([0-9a-f]+) .*\[vdso\]$/m.exec(maps);
  if (line === null) throw new Error(`process ${pid} has no vDSO`);
  const start = Number.parseInt(line[1]!, 16);
  const image = Buffer.alloc(Number.parseInt(line[2]!, 16) - start);
  const memory = openSync(`/proc/${pid}/mem`, "r");
  readSync(memory, image, 0, image.length, start);
  const sections = sectionsOf(image);
  const symbols = sections.find(({ type }) => type === DYNAMIC_SYMBOLS)!;
  const names = sections[symbols.link]!.offset;
  const functions = new Map<string, number>();
  for (let at = symbols.offset; at < symbols.offset + symbols.size; at += SYMBOL_BYTES) {
    const from = names + image.readUInt32LE(at);
    const name = image.toString("latin1", from, image.indexOf(0, from));
    if (name in CLOCKS) functions.set(name, start + Number(image.readBigUInt64LE(at + 8)));
  }
  return { functions, memory };
}

/** SHT_DYNSYM, and the size of an Elf64_Sym. */
const DYNAMIC_SYMBOLS = 11;
const SYMBOL_BYTES = 24;

/** Section headers of a 64-bit ELF image. */
function sectionsOf(image: Buffer) {
  const table = Number(image.readBigUInt64LE(0x28));
  const size = image.readUInt16LE(0x3a);
  return Array.from({ length: image.readUInt16LE(0x3c) }, (_, index) => {
    const at = table + index * size;
    return {
      type: image.readUInt32LE(at + 4),
      offset: Number(image.readBigUInt64LE(at + 0x18)),
      size: Number(image.readBigUInt64LE(at + 0x20)),
      link: image.readUInt32LE(at + 0x28),
    };
  });
}
