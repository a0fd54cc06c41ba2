/** Order of the coordinates' field. */
export const MODULUS =
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn;
export const ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
/** The parameter of the curve is −X. */
export const X = 0xd201000000010000n;

/** Bytes of a coordinate, and of its EIP-2537 encoding, which has leading zeros. */
export const COORDINATE_LENGTH = 48;
export const ENCODED_LENGTH = 64;
export const PADDING = ENCODED_LENGTH - COORDINATE_LENGTH;
