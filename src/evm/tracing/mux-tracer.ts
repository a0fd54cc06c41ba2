import type { FrameTracer, Tracer } from "../machine/tracer.ts";
import { JsonWriter } from "./json-writer.ts";
import type { TracerFactory, TransactionTracer } from "./tracer-config.ts";
import { tracerConfigOf } from "./tracer-config.ts";

/**
 * `muxTracer`: several tracers at once; its configuration holds theirs by name.
 * @param tracerOf finds a tracer by name
 */
export function createMuxTracer(tracerOf: (name: string) => TracerFactory): TracerFactory {
  return (config, traced) => {
    const children: (readonly [name: string, tracer: TransactionTracer])[] = [];
    const dispose = () => {
      for (const [, tracer] of children) tracer.dispose?.();
    };
    try {
      for (const [name, own] of Object.entries(config)) {
        children.push([name, tracerOf(name)(tracerConfigOf(name, own), traced)]);
      }
    } catch (error) {
      dispose();
      throw error;
    }
    return {
      dispose,
      needsChanges: children.some(([, { needsChanges }]) => needsChanges),
      hooks: allHooks(children.map(([, { hooks }]) => hooks)),
      result(outcome) {
        const out = new JsonWriter();
        out.text("{");
        for (const [index, [name, tracer]] of children.entries()) {
          out.text(`${index === 0 ? "" : ","}${JSON.stringify(name)}:`);
          if ("write" in tracer) tracer.write(outcome, out);
          else out.append(tracer.result(outcome));
        }
        out.text("}");
        return out.finishText();
      },
    };
  };
}

/** Every hook that any of `all` has: an engine pays for those that are there. */
function allHooks(all: readonly Tracer[]): Tracer {
  const has = (name: keyof Tracer) => all.some((hooks) => hooks[name] !== undefined);
  return {
    ...(has("frames") && { frames: allFrames(all.flatMap(({ frames }) => frames ?? [])) }),
    ...(has("onEnter") && {
      onEnter(start, depth) {
        for (const hooks of all) hooks.onEnter?.(start, depth);
      },
    }),
    ...(has("onExit") && {
      onExit(end, depth) {
        for (const hooks of all) hooks.onExit?.(end, depth);
      },
    }),
    ...(has("onLog") && {
      onLog(log, depth) {
        for (const hooks of all) hooks.onLog?.(log, depth);
      },
    }),
    ...(has("onStep") && {
      onStep(step) {
        for (const hooks of all) hooks.onStep?.(step);
      },
    }),
    ...(has("onAccessStep") && {
      onAccessStep(step) {
        for (const hooks of all) hooks.onAccessStep?.(step);
      },
    }),
  };
}

function allFrames(all: readonly FrameTracer[]): FrameTracer {
  return {
    enter(...frame) {
      for (const frames of all) frames.enter(...frame);
    },
    exit(...frame) {
      for (const frames of all) frames.exit(...frame);
    },
    selfDestruct(...frame) {
      for (const frames of all) frames.selfDestruct(...frame);
    },
    end(addressOf) {
      for (const frames of all) frames.end(addressOf);
    },
  };
}
