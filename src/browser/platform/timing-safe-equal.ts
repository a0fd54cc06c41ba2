/** `timingSafeEqual` of `node:crypto`: the time does not depend on where the bytes differ. @throws RangeError for other lengths */
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) throw new RangeError("inputs must have the same length");
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}
