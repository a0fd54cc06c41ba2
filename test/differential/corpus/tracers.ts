type TraceConfig = Readonly<Record<string, unknown>>;

/** Native tracers with every option that changes what they show. */
export const TRACERS: readonly TraceConfig[] = [
  {},
  { enableMemory: true },
  { enableReturnData: true },
  { disableStack: true },
  { disableStorage: true },
  { enableMemory: true, enableReturnData: true, disableStack: true, disableStorage: true },
  { limit: 3 },
  { tracer: "callTracer" },
  { tracer: "callTracer", tracerConfig: { withLog: true } },
  { tracer: "callTracer", tracerConfig: { onlyTopCall: true, withLog: true } },
  { tracer: "prestateTracer" },
  { tracer: "prestateTracer", tracerConfig: { diffMode: true } },
  { tracer: "prestateTracer", tracerConfig: { disableCode: true, disableStorage: true } },
  {
    tracer: "prestateTracer",
    tracerConfig: { diffMode: true, disableCode: true, disableStorage: true },
  },
  { tracer: "prestateTracer", tracerConfig: { includeEmpty: true } },
  { tracer: "flatCallTracer" },
  { tracer: "flatCallTracer", tracerConfig: { convertParityErrors: true } },
  {
    tracer: "flatCallTracer",
    tracerConfig: { convertParityErrors: true, includePrecompiles: true },
  },
  { tracer: "4byteTracer" },
  { tracer: "noopTracer" },
  { tracer: "keccak256PreimageTracer" },
  { tracer: "erc7562Tracer" },
  { tracer: "erc7562Tracer", tracerConfig: { stackTopItemsSize: 1, withLog: true } },
  { tracer: "erc7562Tracer", tracerConfig: { ignoredOpcodes: [] } },
  { tracer: "muxTracer", tracerConfig: { callTracer: {}, prestateTracer: { diffMode: true } } },
  {
    tracer: "muxTracer",
    tracerConfig: { "4byteTracer": {}, flatCallTracer: {}, callTracer: { withLog: true } },
  },
];

const SCRIPT_NAMES = [
  "bigramTracer",
  "unigramTracer",
  "trigramTracer",
  "evmdisTracer",
  "opcountTracer",
  "4byteTracerLegacy",
  "callTracerLegacy",
  "noopTracerLegacy",
  "prestateTracerLegacy",
];

/** A script that shows what each of its arguments offers. */
const SCRIPT = `{
  seen: [],
  setup: function (config) { this.config = config; },
  step: function (log, db) {
    if (this.seen.length < 40)
      this.seen.push([log.getPC(), log.op.toString(), log.getGas(), log.getCost(), log.getDepth(), log.getRefund(),
        log.stack.length(), log.memory.length(), toHex(log.contract.getAddress()), toHex(log.contract.getCaller()),
        log.contract.getValue().toString(), db.getBalance(log.contract.getAddress()).toString(),
        db.getNonce(log.contract.getAddress())]);
  },
  fault: function (log) { this.seen.push(["fault", log.getError()]); },
  enter: function (frame) {
    this.seen.push(["enter", frame.getType(), toHex(frame.getFrom()), toHex(frame.getTo()), frame.getGas(), toHex(frame.getInput()),
      String(frame.getValue())]);
  },
  exit: function (frame) { this.seen.push(["exit", frame.getGasUsed(), toHex(frame.getOutput()), frame.getError()]); },
  result: function (ctx) {
    return { seen: this.seen, config: this.config, type: ctx.type, gas: ctx.gas, gasUsed: ctx.gasUsed, block: ctx.block,
      value: ctx.value.toString(), output: toHex(ctx.output), error: ctx.error };
  },
}`;

/** Tracers in JavaScript: those with names, and a script. */
export const SCRIPT_TRACERS: readonly TraceConfig[] = [
  ...SCRIPT_NAMES.map((tracer) => ({ tracer })),
  { tracer: SCRIPT, tracerConfig: { some: ["config", 1] } },
];
