import type { World } from "./world.ts";

/** JSON Schema as `rpc_discover` writes it for parameters. */
export type Schema = {
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
};

export type Parameter = { readonly name: string; readonly required: boolean; readonly schema: Schema };

/** Numbers in [0, 1), the same ones for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** As hex they fill a body. */
const DATA_BYTES_MAX = 2_400_000;

/** Makes parameters that follow their schemas, of a size that the caller chooses. */
export class InputGenerator {
  readonly #world: World;
  readonly #random: () => number;
  /** Items that may still be made for one value: arrays in arrays share them. */
  #itemsLeft = 0;
  /** Bytes of data that may still be made. */
  #bytesLeft = 0;

  constructor(world: World, random: () => number) {
    this.#world = world;
    this.#random = random;
  }

  /** @param items of lists and names of objects, all together; @param bytes of each piece of data */
  parameters(parameters: readonly Parameter[], items: number, bytes: number): unknown[] {
    this.#itemsLeft = items;
    this.#bytesLeft = DATA_BYTES_MAX;
    const values: unknown[] = [];
    for (const { name, required, schema } of parameters) {
      if (!required && this.#random() < 0.2) break;
      values.push(this.#named(name, schema, bytes));
    }
    return values;
  }

  #named(name: string, schema: Schema, bytes: number): unknown {
    const { filters, rawTransaction, stateDump } = this.#world;
    if (name === "typedData") return this.#typedData(bytes);
    if (/filter|^id$/i.test(name) && this.#random() < 0.8) return this.#pick(filters);
    if (/^raw|^transaction$/.test(name) && schema.title === "DATA") return this.#whole(rawTransaction);
    if (name === "state") return this.#whole(stateDump);
    if (name === "tracer") {
      return this.#pick(["callTracer", "prestateTracer", "flatCallTracer", "4byteTracer", "muxTracer", "noopTracer"]);
    }
    if (name === "percentiles") return Array.from({ length: 100 }, (_, i) => i);
    if (/^(fromBlock|start|earliest)$/.test(name)) return "0x0";
    if (/^(toBlock|end)$/.test(name)) return "latest";
    if (/Time|seconds|milliseconds|duration/i.test(name)) return 1;
    return this.#value(schema, bytes);
  }

  #value(schema: Schema, bytes: number): unknown {
    const { oneOf, enum: names, title, pattern, type } = schema;
    if (oneOf) return this.#value(this.#pick(oneOf), bytes);
    if (names) return this.#pick(names);
    const world = this.#world;
    if (title === "block number or tag") return this.#pick([...world.blockNumbers, "latest", "pending", "0x0"]);
    if (title === "block") return this.#pick([...world.blockNumbers, ...world.blockHashes]);
    if (title === "address" || pattern?.includes("{40}")) return this.#pick(world.addresses);
    if (title === "hash" || pattern?.includes("{64}")) return this.#hash();
    if (title === "DATA") return this.#data(bytes);
    if (title === "QUANTITY") return this.#pick(["0x0", "0x1", "0x400", "0x1c9c380", ...world.blockNumbers]);
    switch (Array.isArray(type) ? this.#pick(type) : type) {
      case "array":
        return this.#list(schema, bytes);
      case "object":
        return this.#object(schema, bytes);
      case "boolean":
        return this.#random() < 0.7;
      case "integer":
      case "number":
        return this.#pick([0, 1, 10, 1000, 1_000_000]);
      case "null":
        return null;
      case "string":
        return this.#pick([
          "latest",
          "0x1",
          "1",
          this.#whole("x".repeat(Math.min(bytes, 100_000))),
          ...world.filters.slice(0, 2),
        ]);
      default:
        return this.#pick([null, "newHeads", "0x1", {}, this.#typedData(bytes)]);
    }
  }

  #data(bytes: number): string {
    const length = Math.min(bytes, this.#bytesLeft);
    this.#bytesLeft -= length;
    return `0x${"00".repeat(length)}`;
  }

  /** `text`, while there is room for it. */
  #whole(text: string): string {
    if (text.length > this.#bytesLeft) return "0x";
    this.#bytesLeft -= text.length / 2;
    return text;
  }

  #hash(): string {
    const { transactionHashes, blockHashes, topics } = this.#world;
    const { length } = transactionHashes;
    // Distinct ones are what a long list has to be made of.
    if (this.#itemsLeft > length) return word(Math.floor(this.#random() * 8000));
    return this.#pick([...transactionHashes, ...blockHashes, ...topics]);
  }

  #list({ items = {}, maxItems = Number.POSITIVE_INFINITY }: Schema, bytes: number): unknown[] {
    const length = Math.min(maxItems, this.#share());
    return Array.from({ length }, () => this.#value(items, Math.min(bytes, 64)));
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, bytes: number): object {
    const value: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(properties)) {
      if (required.includes(name) || this.#random() < 0.5) value[name] = this.#named(name, schema, bytes);
    }
    if (additionalProperties) {
      // Values of 32 bytes are storage, whose names have as many; other names are addresses.
      const isStorage = additionalProperties.title === "hash";
      for (let i = this.#share(); i > 0; i--) {
        const name = isStorage ? word(Math.floor(this.#random() * 2 ** 40)) : this.#overridden();
        value[name] = this.#value(additionalProperties, Math.min(bytes, 24_000));
      }
    }
    return value;
  }

  #overridden(): string {
    if (this.#random() < 0.1) return this.#pick(this.#world.addresses);
    return `0x${Math.floor(this.#random() * 2 ** 48)
      .toString(16)
      .padStart(40, "0")}`;
  }

  /** Some of the items that are left. */
  #share(): number {
    const share = Math.max(1, Math.ceil(this.#itemsLeft * (this.#random() < 0.5 ? 1 : this.#random())));
    this.#itemsLeft = Math.max(0, this.#itemsLeft - share);
    return share;
  }

  /** Fields by values: each type is met once for each value of it. */
  #typedData(bytes: number): object {
    const fields = Math.max(1, Math.min(20_000, Math.floor(bytes / 20)));
    const values = Math.max(1, this.#share());
    const members = Array.from({ length: fields }, (_, i) => ({ name: `f${i}`, type: i % 2 ? "T" : "uint256" }));
    return {
      types: {
        EIP712Domain: [{ name: "name", type: "string" }],
        T: [],
        S: members,
        Mail: [
          { name: "all", type: "S[]" },
          { name: "data", type: "bytes" },
        ],
      },
      primaryType: "Mail",
      domain: { name: "Mail" },
      message: { all: Array.from({ length: values }, () => ({})), data: this.#data(bytes) },
    };
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }
}

const word = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
