/**
 * The layout of the linear memory that all frames and builds of one engine share. All numbers are bytes.
 * Words (256 bits) are 32 bytes with the low limb first, so an address is a word with its last byte first.
 *
 *     0x000400  frame       registers of the running frame
 *     0x000600  globals     journal and refund counters, requests to the driver
 *     0x000800  environment words the environment opcodes push
 *     0x001000  scratch     operands of the long arithmetic, state of Keccak
 *     0x010000  frames      registers of the frames that wait for a call
 *               stacks      growing downward; a child's stack begins where its parent's ends
 *               index       open-addressing table of record addresses
 *               records     accounts and slots of this execution
 *               undo        journal: cells to put back on a revert
 *               logs        what LOG wrote in this execution
 *               hashes      Keccak-256 of pairs of words, cached between executions
 *               code        code by hash with its segment table, cached between executions
 *               memory      input of the top call, then each frame's memory after its parent's
 */

export const WORD = 32;
export const PAGE = 0x10000;

/** Depth of the deepest frame; the top call has depth 0 (Yellow Paper, I_e). */
export const DEPTH_MAX = 1024;
/** Words on one frame's stack (Yellow Paper 9.1). */
export const STACK_WORDS_MAX = 1024;

const FRAME = 0x400;

/** Addresses of the running frame's registers. The whole block is saved when it calls. */
export const frame = {
  begin: FRAME,
  pc: FRAME + 0,
  sp: FRAME + 4,
  stackBase: FRAME + 8,
  memory: FRAME + 12,
  /** Active bytes of memory, a multiple of 32 */
  memorySize: FRAME + 16,
  code: FRAME + 20,
  codeSize: FRAME + 24,
  /** Address of the segment of code address `pc`, less 8·pc */
  segments: FRAME + 28,
  gas: FRAME + 32,
  input: FRAME + 40,
  inputSize: FRAME + 44,
  /** Record of the account whose storage and address this is (I_a) */
  account: FRAME + 48,
  isStatic: FRAME + 52,
  /** Undo entries before this frame */
  snapshot: FRAME + 56,
  logCount: FRAME + 60,
  refund: FRAME + 64,
  returnData: FRAME + 72,
  returnDataSize: FRAME + 76,
  /** Where the parent wants the output */
  outputTarget: FRAME + 80,
  outputTargetSize: FRAME + 84,
  kind: FRAME + 88,
  codeId: FRAME + 92,
  /** First byte of linear memory that belongs only to this frame */
  floor: FRAME + 96,
  /** `globals.logTop` before this frame */
  logTop: FRAME + 100,
  /** Block table of the code, where a compiled contract runs it (gen/compiled/code-map.ts) */
  blocks: FRAME + 104,
  /** 1 where the creator paid for the account of this creation (EIP-8037) */
  accountPaid: FRAME + 108,
  /** Gas that paid for growth of the state, since the reservoir was empty (EIP-8037) */
  spilled: FRAME + 112,
  /** `globals.reservoir` when this frame began */
  reservoir: FRAME + 120,
  caller: FRAME + 128,
  value: FRAME + 160,
  size: 192,
} as const;

export const FRAME_STRIDE = 256;

const GLOBALS = 0x600;

export const globals = {
  /** Gas of the running frame that it gets only after a look at the clock */
  reserve: GLOBALS + 0,
  /** Most gas a frame runs on without a look at the clock */
  slice: GLOBALS + 8,
  refund: GLOBALS + 16,
  undoTop: GLOBALS + 24,
  recordTop: GLOBALS + 28,
  indexMask: GLOBALS + 32,
  /** End of the linear memory frames may use; 0 while a step is priced again, where memory costs gas and does not grow */
  memoryLimit: GLOBALS + 36,
  /** Why the frame halted; see halts.ts */
  halt: GLOBALS + 40,
  haltDetail: GLOBALS + 44,
  output: GLOBALS + 48,
  outputSize: GLOBALS + 52,
  /** Per-opcode build: gas, cost and memory size before the opcode, and whether the hook wants to know */
  stepGas: GLOBALS + 56,
  stepCost: GLOBALS + 64,
  stepMemorySize: GLOBALS + 72,
  /** 1 when the hook has seen the opcode that runs */
  stepped: GLOBALS + 84,
  blobHashCount: GLOBALS + 76,
  recordCount: GLOBALS + 80,
  /** Gas that comes back from what a frame called */
  gasBack: GLOBALS + 88,
  /** The position of the next log, the end of the log region, and the number of logs in it */
  logTop: GLOBALS + 96,
  logEnd: GLOBALS + 100,
  logCount: GLOBALS + 104,
  /** Per-opcode build: the undo log and the refund counter before the opcode */
  stepUndoTop: GLOBALS + 108,
  stepRefund: GLOBALS + 112,
  /** Most bytes of the code that creates a contract (EIP-3860) */
  initCodeSizeMax: GLOBALS + 120,
  /** State gas left of the transaction (EIP-8037) */
  reservoir: GLOBALS + 128,
  /** `frame.spilled` of what a frame called, which its caller takes over */
  spilledBack: GLOBALS + 136,
  /** Per-opcode build: `frame.spilled` before the opcode */
  stepSpilled: GLOBALS + 144,
} as const;

const REQUEST = GLOBALS + 0xa0;

/** What CALL, CREATE and SELFDESTRUCT ask of the driver. */
export const request = {
  gas: REQUEST + 0,
  opcode: REQUEST + 8,
  target: REQUEST + 12,
  input: REQUEST + 16,
  inputSize: REQUEST + 20,
  output: REQUEST + 24,
  outputSize: REQUEST + 28,
  /** Record whose code runs: `target`, or what its delegation names (EIP-7702) */
  codeAccount: REQUEST + 32,
  /** `frame.accountPaid` of the creation */
  accountPaid: REQUEST + 36,
  value: REQUEST + 64,
  salt: REQUEST + 96,
} as const;

const ENVIRONMENT = 0x800;

export const environment = {
  origin: ENVIRONMENT + 0,
  gasPrice: ENVIRONMENT + 32,
  coinbase: ENVIRONMENT + 64,
  timestamp: ENVIRONMENT + 96,
  number: ENVIRONMENT + 128,
  /** DIFFICULTY, from Paris PREVRANDAO (EIP-4399) */
  difficulty: ENVIRONMENT + 160,
  gasLimit: ENVIRONMENT + 192,
  chainId: ENVIRONMENT + 224,
  baseFee: ENVIRONMENT + 256,
  blobBaseFee: ENVIRONMENT + 288,
  /** EIP-7843 */
  slotNumber: ENVIRONMENT + 320,
} as const;

/** Operands and results of the long arithmetic, up to 9 limbs each */
export const NUMERATOR = 0x1000;
export const NORMALISED_NUMERATOR = 0x1080;
export const QUOTIENT = 0x1100;
export const REMAINDER = 0x1180;
export const POWER = 0x1200;
export const BASE = 0x1240;
/** Slots of a divisor's two leading limbs, shifted until the top bit is set, and their reciprocal */
export const RECIPROCALS = 0x1280;
export const RECIPROCALS_BITS = 4;
export const RECIPROCAL_SIZE = 24;
/** The 25 lanes of Keccak's state, and those after every other round */
export const KECCAK_STATE = 0x1600;
export const KECCAK_NEXT_STATE = 0x1700;
export const KECCAK_ROUND_CONSTANTS = 0x1900;
/** Key of the account being looked up */
export const ADDRESS_KEY = 0x1a00;
/** Key of the slot a tracer asks for */
export const TRACE_KEY = 0x1a40;
/** Topics of the log being emitted, as 32 big-endian bytes each */
export const LOG_TOPICS = 0x1b00;
/** 15 down to 0, then 16 numbers that name no byte: a vector's bytes in reverse, or from 16 − n on only the first n */
export const REVERSED_LANES = 0x1c00;
/** Never written */
export const ZEROS = 0x1c20;
export const BLOB_HASHES = 0x4000;
export const BLOB_HASHES_MAX = 1024;

export const FRAMES = 0x10000;
const STACKS = 0x60000;
/** First stack; it grows downward. */
export const STACK_TOP = STACKS + (DEPTH_MAX + 1) * STACK_WORDS_MAX * WORD + 0x8000;
export const INDEX = STACK_TOP + PAGE;
/** Cleared before each execution: most have fewer than ten records. */
export const INDEX_SLOTS_MIN = 1 << 8;
export const INDEX_SLOTS_MAX = 1 << 20;
export const RECORDS = INDEX + INDEX_SLOTS_MAX * 4;
export const RECORD_SIZE = 128;
export const RECORDS_END = RECORDS + (INDEX_SLOTS_MAX / 2) * RECORD_SIZE;
export const UNDO = RECORDS_END;
export const UNDO_SIZE = 48;
export const UNDO_END = UNDO + 64 * 1024 * 1024;
export const LOGS = UNDO_END;
export const LOGS_END = LOGS + 16 * 1024 * 1024;
/** Hashes of 64 bytes by their input, cached between executions */
export const HASHES = LOGS_END;
export const HASH_SLOTS_BITS = 12;
export const HASH_SLOT_SIZE = 128;
const HASHES_END = HASHES + (1 << HASH_SLOTS_BITS) * HASH_SLOT_SIZE;
export const CODE = HASHES_END;
export const CODE_END = CODE + 48 * 1024 * 1024;
export const MEMORY = CODE_END;
export const MEMORY_PAGES_MIN = Math.ceil(MEMORY / PAGE) + 64;

/**
 * A record: an account, or a slot of one. Four cells of 32 bytes, each saved whole by the journal.
 * `owner` is 0 for an account, the account's record for a slot, that plus 1 for a transient slot (EIP-1153).
 */
export const record = {
  key: 0,
  /** Current value of a slot, balance of an account */
  value: 32,
  /** Value of a slot before the transaction (EIP-2200), code hash of an account */
  original: 64,
  meta: 96,
  flags: 96,
  owner: 100,
  nonce: 104,
  codeId: 112,
  codeSize: 116,
} as const;

export const TRANSIENT = 1;

/**
 * A log: this header, the address and the topics as 32 big-endian bytes each, the data, and as much as makes the next
 * begin at a multiple of 16.
 */
export const logEntry = { topicCount: 0, dataSize: 4, address: 16, topics: 48 } as const;

/** Bits of `record.flags`. */
export const flag = {
  exists: 1,
  /** EIP-2929 */
  warm: 2,
  /** Deleted at the end of the transaction when empty (EIP-161) */
  touched: 4,
  /** Created in this transaction (EIP-6780) */
  created: 8,
  selfDestructed: 16,
  /** To be written back */
  dirty: 32,
  /** Reported to the tracer */
  accessed: 64,
  /** The code is a delegation (EIP-7702) */
  delegated: 128,
  precompile: 256,
} as const;
