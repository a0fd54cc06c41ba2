import { i32, type Local, memory, v128 } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { frame, globals, LOG_TOPICS, logEntry, record, WORD } from "../../memory/layout.ts";
import { bytesFromWord } from "../words.ts";
import type { Imports } from "./imports.ts";

/**
 * append(topicCount, topics, data, size): the running frame's log goes into the log region, or to the host when there is
 * no room; `topics` is the address of the first topic's word.
 */
export function defineAppendLog(module: ModuleBuilder, imports: Imports): FunctionRef {
  return module.define(["i32", "i32", "i32", "i32"], [], (f, topicCount_, topics_, data_, size_) => {
    const [topicCount, topics, data, size] = [topicCount_!, topics_!, data_!, size_!];
    const entry = f.i32(i32.load(globals.logTop));
    const end = f.i32(i32.add(i32.add(entry, logEntry.topics), i32.shl(topicCount, 5)));
    const room = f.i32(i32.sub(i32.load(globals.logEnd), end));
    f.if(i32.or(i32.ltS(room, 0), i32.gtU(size, room)), () => {
      f.set(entry, LOG_TOPICS);
      writeTopics(f, entry, topics, topicCount);
      f.do(call(imports.log, topicCount, data, size));
      f.return();
    });
    f.do(i32.store(entry, topicCount, logEntry.topicCount), i32.store(entry, size, logEntry.dataSize));
    const account = i32.load(frame.account);
    bytesFromWord(f, i32.add(entry, logEntry.address), account, record.key);
    f.set(entry, i32.add(entry, logEntry.topics));
    writeTopics(f, entry, topics, topicCount);
    copyData(f, end, data, size);
    f.do(
      i32.store(globals.logTop, i32.and(i32.add(i32.add(end, size), 15), -16)),
      i32.store(globals.logCount, i32.add(i32.load(globals.logCount), 1)),
    );
  });
}

/** Writes the topics from `to` on; moves `to` and `topics`. */
function writeTopics(f: FunctionBuilder, to: Local, topics: Local, topicCount: Local): void {
  const count = f.i32(topicCount);
  f.block((done) =>
    f.loop((again) => {
      f.brIf(done, i32.eqz(count));
      bytesFromWord(f, to, topics);
      f.set(to, i32.add(to, WORD));
      f.set(topics, i32.add(topics, WORD));
      f.set(count, i32.sub(count, 1));
      f.br(again);
    }),
  );
}

/** One word, what most logs carry, is copied without a call into the runtime; the bytes after memory are readable. */
function copyData(f: FunctionBuilder, to: Local, data: Local, size: Local): void {
  f.if(
    i32.gtU(size, WORD),
    () => f.do(memory.copy(to, data, size)),
    () => f.if(size, () => f.do(v128.store(to, v128.load(data)), v128.store(to, v128.load(data, 16), 16))),
  );
}
