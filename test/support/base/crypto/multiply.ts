type Point<T> = { add(other: T): T; double(): T; subtract(other: T): T };

/** scalar · point for scalars of any size, which noble's own functions reject from the group order on. */
export function multiplyPoint<T extends Point<T>>(point: T, scalar: bigint): T {
  let result = point.subtract(point);
  for (const bit of scalar.toString(2)) {
    result = result.double();
    if (bit === "1") result = result.add(point);
  }
  return result;
}
