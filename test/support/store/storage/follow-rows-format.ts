export const VALUE_BYTES = 4_000;

export function rowKey(row: number): Uint8Array {
  const key = Buffer.alloc(8);
  key.writeUInt32BE(row, 4);
  return key;
}
