import { option } from "./option.ts";
import { address, integer, unset } from "./value-types.ts";

/** Of the `les` namespace. */
export const LES_SETTINGS = {
  serve: option("les.serve", integer(0, 10_000), 0, {
    description:
      "Percent of one core that strangers may use, each within a capacity of its own; 0 serves everybody alike. Two at least: a free client takes 1.6.",
  }),
  // Mainnet's sizes and geth's confirmations, so that the numbers of sections agree with other clients'.
  sectionSize: option("les.section-size", integer(8), 32_768, {
    description:
      "Blocks of a checkpoint section, a multiple of les.bloom-section-size; another size computes all checkpoints anew.",
  }),
  bloomSectionSize: option("les.bloom-section-size", integer(8), 4096, {
    description: "Blocks whose blooms are indexed together, a multiple of 8.",
  }),
  confirmations: option("les.confirmations", integer(1), 256, {
    description: "Blocks from the end of a section to the head before its checkpoint is computed.",
  }),
  checkpointOracle: option("les.checkpoint-oracle", unset(address), null, {
    description: "Address of the checkpoint oracle contract; empty: there is none.",
  }),
  checkpointSigner: option("les.checkpoint-signer", unset(address), null, {
    description:
      "Unlocked account that votes for new checkpoints in the oracle contract, one of its admins; empty: none does.",
  }),
} as const;
