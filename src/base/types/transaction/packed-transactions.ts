/**
 * Concatenated `transactions`, each after its length as little-endian u32: a copy, because a message to a thread includes the whole buffer of a
 * view.
 */
export function packTransactions(transactions: readonly Uint8Array[]): Uint8Array {
  const length = transactions.reduce((sum, raw) => sum + 4 + raw.length, 0);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const raw of transactions) {
    view.setUint32(at, raw.length, true);
    bytes.set(raw, at + 4);
    at += 4 + raw.length;
  }
  return bytes;
}

export function unpackTransactions(packed: Uint8Array): readonly Uint8Array[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const transactions: Uint8Array[] = [];
  for (let at = 0; at < packed.length; ) {
    const end = at + 4 + view.getUint32(at, true);
    transactions.push(packed.subarray(at + 4, end));
    at = end;
  }
  return transactions;
}
