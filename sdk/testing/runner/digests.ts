import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/* The checksums and hashes of expressions. */

const M64 = (1n << 64n) - 1n;
const rotate = (value: bigint, bits: bigint) => ((value << bits) | (value >> (64n - bits))) & M64;

/** CRC-64 by the ISO polynomial: what a byte contributes. */
const CRC64 = Array.from({ length: 256 }, (_, byte) => {
  let crc = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0xd800000000000000n : crc >> 1n;
  return crc;
});
const crc64 = (data: Buffer) =>
  data.reduce((crc, byte) => (CRC64[Number(crc & 255n) ^ byte] ?? 0n) ^ (crc >> 8n), M64) ^ M64;

function xxhash64(data: Buffer): bigint {
  const [a, b, c]: [bigint, bigint, bigint] = [
    11400714785074694791n,
    14029467366897019727n,
    1609587929392839161n,
  ];
  const [d, e]: [bigint, bigint] = [9650029242287828579n, 2870177450012600261n];
  const round = (lane: bigint, word: bigint) => (rotate((lane + word * b) & M64, 31n) * a) & M64;
  let [at, hash]: [number, bigint] = [0, e];
  if (data.length >= 32) {
    const lanes = [(a + b) & M64, b, 0n, (M64 + 1n - a) & M64];
    for (; at + 32 <= data.length; at += 32)
      for (const [index, lane] of lanes.entries())
        lanes[index] = round(lane, data.readBigUInt64LE(at + 8 * index));
    hash = lanes.reduce((sum, lane, index) => sum + rotate(lane, [1n, 7n, 12n, 18n][index] ?? 0n), 0n) & M64;
    for (const lane of lanes) hash = ((hash ^ round(0n, lane)) * a + d) & M64;
  }
  hash = (hash + BigInt(data.length)) & M64;
  for (; at + 8 <= data.length; at += 8)
    hash = (rotate(hash ^ round(0n, data.readBigUInt64LE(at)), 27n) * a + d) & M64;
  for (; at + 4 <= data.length; at += 4)
    hash = (rotate(hash ^ ((BigInt(data.readUInt32LE(at)) * a) & M64), 23n) * b + c) & M64;
  for (; at < data.length; at++) hash = (rotate(hash ^ ((BigInt(data[at] ?? 0) * e) & M64), 11n) * a) & M64;
  hash = ((hash ^ (hash >> 33n)) * b) & M64;
  hash = ((hash ^ (hash >> 29n)) * c) & M64;
  return hash ^ (hash >> 32n);
}

const wide = (value: bigint) => Buffer.from(value.toString(16).padStart(16, "0"), "hex");
/** By the name of a function. */
export const digests: Record<string, (data: Buffer) => Buffer> = {
  crc32: (data) => Buffer.from(crc32(data).toString(16).padStart(8, "0"), "hex"),
  crc64: (data) => wide(crc64(data)),
  xxhash64: (data) => wide(xxhash64(data)),
  ...Object.fromEntries(
    ["md5", "sha1", "sha256", "sha512"].map((name) => [
      name,
      (data: Buffer) => createHash(name).update(data).digest(),
    ]),
  ),
};
