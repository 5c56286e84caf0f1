import { writeFileSync, readFileSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bubblewrap } from "../../src/sandbox/bubblewrap.ts";
import { pythonPool } from "../../src/sandbox/python-pool.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const secret = join(folder, "secret");
const SECRET = "the-secret-of-the-host";
const { signal } = new AbortController();

let connections = 0;
let server: Server;
let port = 0;

beforeAll(async () => {
  writeFileSync(secret, SECRET);
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address !== null && typeof address === "object") port = address.port;
});

afterAll(() => {
  server.close();
});

/** Objects of JavaScript that a program can get hold of, as `js`. */
const PROXY = "from pyodide.ffi import create_proxy, to_js\njs = to_js([1])\n";

/** By kind. @param PATH of a secret file, PORT of a server of the host. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  "endless work": [
    "while True: pass",
    "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "sum(range(10**12))",
    "10**(10**9)",
    "import itertools\nfor _ in itertools.count(): pass",
    "import re\nre.match('(a+)+$', 'a'*40+'b')",
    "'x' * 10 in iter(int, 1)",
    "import time\ntime.sleep(10**6)",
    "def f():\n  yield from f()\nlist(f())",
    "sorted(iter(lambda: 1, 2))",
    "import threading\nthreading.Event().wait()",
    "class A:\n  def __del__(self):\n    while True: pass\nA()",
    "import atexit\natexit.register(lambda: print(1))\nwhile True: pass",
    "import sys\nsys.set_int_max_str_digits(0)\nstr(7**10**7)",
  ],
  memory: [
    "x = [0] * 10**9",
    "x = bytearray(10**10)",
    "x = 'a' * 2**31",
    "x = []\nwhile True: x.append('a' * 10**6)",
    "x = {}\ni = 0\nwhile True:\n  x[i] = [i] * 1000\n  i += 1",
    "x = 'a'\nwhile True: x += x",
    "open('big', 'wb').write(bytes(10**9))",
    "f = open('big', 'wb')\nwhile True: f.write(bytes(10**7))",
    "import json\njson.loads('[' * 10**7)",
    "def f(n): return f(n + 1)\nf(0)",
    "import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf(0)",
    "x = ()\nfor _ in range(10**6): x = (x,)\nprint(x == x)\nrepr(x)",
    "exec('(' * 10**5 + ')' * 10**5)",
    "compile('-' * 10**6 + '1', 'a', 'eval')",
    "'%*d' % (10**9, 1)",
    "f'{1:{10**9}}'",
  ],
  "floods of output": [
    "print('x' * 10**8)",
    "while True: print('x' * 1000)",
    "import sys\nwhile True: sys.stderr.write('x')",
    "import os\nwhile True: os.write(1, b'x' * 1000)",
    "print('\\n' * 10**6)",
    "raise ValueError('x' * 10**7)",
    "print('\\ud800')",
    "import os\nos.write(1, b'\\xff\\xfe\\x00')",
    "import os\nos.write(3, b'{}\\n')\nos.write(4, b'{\"text\":\"forged\"}\\n')",
    "import os\nos.close(0); os.close(1); os.close(2)",
    "import sys\nsys.stdout = None\nsys.stderr = 5\nprint(1)",
  ],
  processes: [
    "import os\nwhile True: os.fork()",
    "import subprocess\nprint(subprocess.run(['cat', 'PATH'], capture_output=True).stdout)",
    "import os\nprint(os.popen('cat PATH').read())",
    "import os\nos.system('cat PATH')",
    "import os\nos.execv('/bin/cat', ['cat', 'PATH'])",
    "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "import os\nos.kill(-1, 9)",
    "import os\nos.abort()",
    "import os\nos._exit(3)",
    "import sys\nsys.exit(5)",
    "raise SystemExit",
    "raise KeyboardInterrupt",
    "import threading\n[threading.Thread(target=print).start() for _ in range(1000)]",
    "import multiprocessing as m\nm.Process(target=print).start()",
    "import signal\nsignal.signal(signal.SIGTERM, lambda *a: None)\nsignal.alarm(1)\nwhile True: pass",
    "import faulthandler\nfaulthandler._sigsegv()",
    "import ctypes\nctypes.string_at(0)",
    "import ctypes\nprint(ctypes.CDLL(None).system(b'cat PATH'))",
    "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))",
  ],
  files: [
    "print(open('PATH').read())",
    "print(open('/etc/passwd').read())",
    "print(open('/proc/self/environ').read())",
    "import os\nprint([os.path.join(a, f) for a, _, fs in os.walk('/') for f in fs if 'secret' in f])",
    "open('PATH', 'w').write('gone')",
    "import os\nos.remove('PATH')",
    "import shutil\nshutil.rmtree('/', ignore_errors=True)\nprint('removed')",
    "import os\nos.symlink('PATH', 'link')\nprint(open('link').read())",
    "import os\nprint(dict(os.environ))",
    "import pathlib\nprint(list(pathlib.Path('/tmp').iterdir()))",
    "import tempfile\nprint(tempfile.mkdtemp(dir='FOLDER'))",
    "import mmap, os\nprint(mmap.mmap(os.open('PATH', os.O_RDONLY), 0).read())",
  ],
  network: [
    "import socket\ns = socket.create_connection(('127.0.0.1', PORT), 2)\ns.send(b'a')\nprint(s.recv(9))",
    "import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:PORT').read())",
    "import socket\ns = socket.socket()\ns.bind(('0.0.0.0', 8123))\ns.listen()\ns.accept()",
    "import socket\nprint(socket.getaddrinfo('localhost', PORT))",
    "import http.client\nc = http.client.HTTPConnection('127.0.0.1', PORT)\nc.request('GET', '/')",
    "from pyodide.http import open_url\nprint(open_url('http://127.0.0.1:PORT').read())",
    "import asyncio\nfrom pyodide.http import pyfetch\nprint(asyncio.run(pyfetch('http://127.0.0.1:PORT')))",
    "import asyncio\nprint(asyncio.run(asyncio.open_connection('127.0.0.1', PORT)))",
  ],
  "ways out to JavaScript": [
    "import js\nprint(js.process.pid)",
    "import pyodide_js\npyodide_js.mountNodeFS('/mnt1', 'FOLDER')\nprint(open('/mnt1/secret').read())",
    "import sys\nsys.modules.pop('js', None)\nimport js\nprint(js.globalThis)",
    "from pyodide.code import run_js\nprint(run_js('process.pid'))",
    PROXY + "print(js.constructor.constructor('return process.env')())",
    PROXY + "print(js.constructor.constructor.constructor('return this')().process.pid)",
    PROXY + "print(js.map.constructor('return globalThis.process.mainModule.require(\"fs\")')())",
    "from pyodide.ffi import create_proxy\nprint(create_proxy(1).constructor.constructor('return process')())",
    "from pyodide.ffi import run_sync, create_once_callable\nprint(run_sync(create_once_callable(lambda: 1)))",
    "import pyodide.webloop as w\nprint(w.scheduleCallback.constructor('return process')())",
    "import pyodide.webloop as w\nw.scheduleCallback(lambda: print('later'), 0)",
    "import asyncio\nasyncio.ensure_future(asyncio.sleep(0))\nasyncio.get_event_loop().call_later(0, print, 'later')",
    "import _pyodide_core as c\nprint([getattr(c, n) for n in dir(c)])",
    "import sys\nprint([f.jsproxies for f in sys.meta_path if hasattr(f, 'jsproxies')])",
    "import _pyodide_core\nfrom _pyodide._importhook import jsfinder\nprint(jsfinder.jsproxies)",
    "import importlib\nprint(importlib.import_module('js').eval('process.pid'))",
    PROXY +
      "p = js.constructor.prototype\np.push = create_proxy(lambda *a: print('pushed', a))\np.slice = create_proxy(lambda *a: print(a))",
    PROXY +
      "o = js.constructor.__proto__.__proto__\no.then = create_proxy(lambda *a: print(a))\no.toJSON = create_proxy(lambda *a: 'forged')",
    PROXY + "print(js.constructor.from_.call(None))",
    PROXY + "js.__proto__.constructor.prototype.toString.constructor('process.exit(9)')()",
    "import gc\nprint([o for o in gc.get_objects() if type(o).__name__ == 'JsProxy'])",
    "import gc\nfor o in gc.get_objects():\n  if type(o).__name__ == 'JsProxy':\n    try: print(o.process.pid, o.FS, o._module)\n    except BaseException as e: print(type(e))",
    "import pyodide\nprint(pyodide.ffi.JsProxy.new)",
    "from pyodide_js._module import FS\nprint(FS.readFile('PATH'))",
  ],
  "traps for the next program": [
    "import builtins\nbuiltins.print = lambda *a: None",
    "import builtins\nbuiltins.len = lambda x: 0\ndel builtins.int",
    "__builtins__.clear() if isinstance(__builtins__, dict) else __builtins__.__dict__.clear()",
    "import sys\nsys.modules.clear()",
    "import sys\nsys.path.clear(); sys.meta_path.clear()",
    "import math\nmath.pi = 3",
    "import random\nrandom.random = lambda: 0.5\nrandom.Random.random = lambda self: 0.5",
    "import fractions\nfractions.Fraction.__add__ = lambda a, b: 0",
    "import sys\nsys._getframe(2).f_globals.clear()",
    "import sys\nf = sys._getframe()\nwhile f:\n  f.f_locals.clear() if hasattr(f.f_locals, 'clear') else 0\n  f = f.f_back",
    "import gc\nfor o in gc.get_objects():\n  if isinstance(o, dict) and 'sessions' in o: o.clear()",
    "import sys\nsys.settrace(lambda *a: sys.exit()); sys.setprofile(lambda *a: sys.exit())",
    "import sys\nsys.excepthook = sys.displayhook = sys.unraisablehook = None",
    "import json\njson.dumps = lambda *a: '{}'\njson.loads = lambda *a: {}",
    "import os\nos.chdir('/')\nos.makedirs = os.chdir = None",
    "import re\nre.Pattern = None\nre.compile = lambda *a: 1/0",
    "import traceback\ntraceback.extract_tb = lambda *a: 1/0\nraise ValueError",
    "class E(Exception):\n  def __str__(self): raise self\nraise E",
    "class E(Exception):\n  __class__ = 5\n  def __repr__(self):\n    while True: pass\nraise E",
    "import contextvars\ncontextvars.Context = None",
    "import sys\nsys.setrecursionlimit(50)",
    "import decimal\ndecimal.getcontext().prec = 1\ndecimal.setcontext(decimal.Context(prec=1))",
    "import warnings\nwarnings.filters.clear(); warnings.simplefilter('error')",
    "import gc\ngc.disable(); gc.set_threshold(1)",
    "print('\\x00\\x01</result>')\n\"\\0\"",
    "\u0000",
    "import sys\nsys.stdin.read()\ninput()",
  ],
};

const programs = Object.entries(PROGRAMS).flatMap(([kind, texts]) =>
  texts.map((text) => ({ kind, text })),
);

/** A program of plain use, whose result any change of the interpreter would change. */
const NEXT = `
import math, random, json, fractions, decimal, builtins
print(math.pi, len([1, 2]), json.dumps({"a": 1}), fractions.Fraction(1, 3) + 1, decimal.Decimal(1) / 3, random.random())
`;

describe.each([
  { isolation: "process", absent: false },
  { isolation: "bubblewrap", absent: bubblewrap([]) === null },
] as const)("hostile programs, isolation $isolation", ({ isolation, absent }) => {
  const limits = { seconds: 0.5, memoryMb: 192, isolation };
  // A program and the one after it go to the same interpreter.
  const pools = [2000, 2001].map((outputCharacters) =>
    pythonPool(1, { ...limits, outputCharacters }),
  );
  const filled = (text: string): string =>
    text.replaceAll("PATH", secret).replaceAll("FOLDER", folder).replaceAll("PORT", String(port));

  it("are many", () => {
    expect(programs.length).toBeGreaterThanOrEqual(80);
  });

  it.skipIf(absent)(
    "end by their limits, reach nothing of the host, and change nothing for the next one",
    async () => {
      const found: unknown[] = [];
      const queue = [...programs];
      await Promise.all(
        pools.map(async (pool) => {
          const run = (text: string) => pool.run({ programs: [text], seed: 7 }, signal);
          const usual = await run(NEXT);
          expect(usual).toMatchObject({ error: null });
          for (let program = queue.shift(); program !== undefined; program = queue.shift()) {
            const shown = JSON.stringify(await run(filled(program.text)));
            const next = await run(NEXT);
            const reached = [SECRET, "forged", String(process.pid)].filter((each) =>
              shown.includes(each),
            );
            const isSame = JSON.stringify(next) === JSON.stringify(usual);
            if (!isSame || reached.length > 0 || shown.length > 20_000)
              found.push({ ...program, reached, shown: shown.slice(0, 300), next });
          }
        }),
      );
      expect(connections).toBe(0);
      expect(found).toEqual([]);
      expect(readFileSync(secret, "utf8")).toBe(SECRET);
      expect(readdirSync(folder)).toEqual(["secret"]);
    },
    900_000,
  );
});
