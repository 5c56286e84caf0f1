import type { Socket } from "node:net";

/**
 * Holds back the end of a connection while undici has paused its response: undici asserts that no response is paused when the connection
 * ends, and loses its rest. It happens where a server closes the connection after the reply (HTTP/1.0, `connection: close`) and the reader
 * is slower than the network.
 *
 * undici reads a socket until `read` gives null, unless the response pauses. When it resumes, it reads once, and again only if the
 * response did not pause anew.
 */
export function holdEndWhilePaused(socket: Socket): void {
  const push = socket.push.bind(socket);
  const read = socket.read.bind(socket);
  let isPaused = false;
  let hasReadNow = false;
  let hasEnded = false;
  socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk !== null || !(isPaused || socket.readableLength > 0)) return push(chunk, encoding);
    hasEnded = true;
    return false;
  };
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (size === 0) return chunk;
    isPaused = chunk !== null || (isPaused && !hasReadNow);
    hasReadNow = true;
    queueMicrotask(() => (hasReadNow = false));
    if (!isPaused && hasEnded) {
      hasEnded = false;
      push(null);
      read(0);
    }
    return chunk;
  };
}
