// Gas of the precompiled contracts (Yellow Paper, appendix E.1), as amended by the EIPs named.

/** Gas with a fixed part and one for each 32-byte word of the input begun. */
export type WordGas = { readonly base: number; readonly perWord: number };
/** Gas with a fixed part and one for each pair of points. */
export type PairGas = { readonly base: number; readonly perPair: number };

export const ECRECOVER_GAS = 3_000n;
export const SHA256_GAS: WordGas = { base: 60, perWord: 12 };
export const RIPEMD160_GAS: WordGas = { base: 600, perWord: 120 };
export const IDENTITY_GAS: WordGas = { base: 15, perWord: 3 };

/** EIP-198 (Byzantium) */
export const MODEXP_DIVISOR_BYZANTIUM = 20n;
/** EIP-2565 (Berlin) */
export const MODEXP_DIVISOR_BERLIN = 3n;
export const MODEXP_GAS_MIN_BERLIN = 200n;
/** EIP-7883 (Osaka) */
export const MODEXP_GAS_MIN = 500n;
/** EIP-7883: what an iteration costs on operands of up to 32 bytes */
export const MODEXP_SHORT_COMPLEXITY = 16n;
/** EIP-198, EIP-7883: iterations counted for each byte of the exponent after its first 32 */
export const MODEXP_BYTE_ITERATIONS_BYZANTIUM = 8n;
export const MODEXP_BYTE_ITERATIONS = 16n;
/** EIP-7823 (Osaka): bytes of each operand */
export const MODEXP_LENGTH_MAX = 1_024n;

/** EIP-196, EIP-197 (Byzantium) */
export const BN254_ADD_BYZANTIUM_GAS = 500n;
export const BN254_MUL_BYZANTIUM_GAS = 40_000n;
export const BN254_PAIRING_BYZANTIUM_GAS: PairGas = { base: 100_000, perPair: 80_000 };
/** EIP-1108 (Istanbul) */
export const BN254_ADD_GAS = 150n;
export const BN254_MUL_GAS = 6_000n;
export const BN254_PAIRING_GAS: PairGas = { base: 45_000, perPair: 34_000 };

/** EIP-4844 (Cancun) */
export const KZG_POINT_EVALUATION_GAS = 50_000n;

/** EIP-2537 (Prague) */
export const BLS_G1_ADD_GAS = 375n;
export const BLS_G1_MUL_GAS = 12_000;
export const BLS_G2_ADD_GAS = 600n;
export const BLS_G2_MUL_GAS = 22_500;
export const BLS_PAIRING_GAS: PairGas = { base: 37_700, perPair: 32_600 };
export const BLS_MAP_FP_TO_G1_GAS = 5_500n;
export const BLS_MAP_FP2_TO_G2_GAS = 23_800n;
/** EIP-7951 (Osaka) */
export const P256_VERIFY_GAS = 6_900n;

export const BLS_MSM_DISCOUNT_DIVISOR = 1_000;
/** Thousandths of the gas of one multiplication that each of k terms costs, k from 1 to 128; the last holds beyond. EIP-2537, "MSM discounts". */
// biome-ignore format: a table
export const BLS_G1_MSM_DISCOUNTS: readonly number[] = [
  1000, 949, 848, 797, 764, 750, 738, 728, 719, 712, 705, 698, 692, 687, 682, 677,
  673, 669, 665, 661, 658, 654, 651, 648, 645, 642, 640, 637, 635, 632, 630, 627,
  625, 623, 621, 619, 617, 615, 613, 611, 609, 608, 606, 604, 603, 601, 599, 598,
  596, 595, 593, 592, 591, 589, 588, 586, 585, 584, 582, 581, 580, 579, 577, 576,
  575, 574, 573, 572, 570, 569, 568, 567, 566, 565, 564, 563, 562, 561, 560, 559,
  558, 557, 556, 555, 554, 553, 552, 551, 550, 549, 548, 547, 547, 546, 545, 544,
  543, 542, 541, 540, 540, 539, 538, 537, 536, 536, 535, 534, 533, 532, 532, 531,
  530, 529, 528, 528, 527, 526, 525, 525, 524, 523, 522, 522, 521, 520, 520, 519,
];
// biome-ignore format: a table
export const BLS_G2_MSM_DISCOUNTS: readonly number[] = [
  1000, 1000, 923, 884, 855, 832, 812, 796, 782, 770, 759, 749, 740, 732, 724, 717,
  711, 704, 699, 693, 688, 683, 679, 674, 670, 666, 663, 659, 655, 652, 649, 646,
  643, 640, 637, 634, 632, 629, 627, 624, 622, 620, 618, 615, 613, 611, 609, 607,
  606, 604, 602, 600, 598, 597, 595, 593, 592, 590, 589, 587, 586, 584, 583, 582,
  580, 579, 578, 576, 575, 574, 573, 571, 570, 569, 568, 567, 566, 565, 563, 562,
  561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 552, 551, 550, 549, 548, 547,
  546, 545, 545, 544, 543, 542, 541, 541, 540, 539, 538, 537, 537, 536, 535, 535,
  534, 533, 532, 532, 531, 530, 530, 529, 528, 528, 527, 526, 526, 525, 524, 524,
];
