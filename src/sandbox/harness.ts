/**
 * Runs programs inside of the interpreter: `run(request)` takes and returns JSON. Nothing of one program is seen by the next one, except in a
 * session, whose names, random state and files stay.
 * - Modules that a program changed are found by comparing their names with a copy; `tainted` then asks for another interpreter.
 * - Programs that look into the interpreter itself (`RISKY`) are always followed by another one.
 */
export const HARNESS = String.raw`
def _make():
    import contextvars, gc, json, os, random, re, shutil, sys, traceback, types, warnings
    import bisect, cmath, collections, copy, datetime, decimal, fractions, functools, heapq
    import itertools, math, operator, statistics, string, time, typing

    RISKY = re.compile(
        r"_getframe|f_back|f_globals|f_builtins|tb_frame|gi_frame|cr_frame|ag_frame|get_objects|get_referrers"
        r"|ctypes|pyodide|__subclasses__|__globals__|__closure__|__code__|__builtins__|meta_path|settrace|setprofile"
    )
    CHANGES = re.compile(r"setattr|delattr|__dict__|vars\s*\(|\bdel\b|\.\s*[A-Za-z_]\w*\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)")
    HOME = "/home/pyodide"
    # A program may change what modules hold, and what comes after it must not use that.
    dumps, loads, chdir, makedirs, rmtree = json.dumps, json.loads, os.chdir, os.makedirs, shutil.rmtree
    format_list, format_error, extract = traceback.format_list, traceback.format_exception_only, traceback.extract_tb
    Context, seed_random, random_state, restore_random = contextvars.Context, random.seed, random.getstate, random.setstate
    streams = sys.stdout, sys.stderr, sys.stdin
    depth, digits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    display = sys.displayhook
    sessions = {}

    def contents(value):
        return value.copy() if type(value) in (dict, list, set) and len(value) < 1000 else value

    def names(scope):
        return {name: (value, contents(value)) for name, value in scope.items()}

    def kept(scope, known):
        if scope.keys() != known.keys():
            return False
        return all(scope[name] is value and (copy is value or scope[name] == copy) for name, (value, copy) in known.items())

    def modules():
        return {name: module for name, module in sys.modules.items() if isinstance(module, types.ModuleType)}

    SKIPPED = {"__warningregistry__", "_cache", "_cache2", "cache", "filters", "modules", "last_exc", "last_type", "last_value", "last_traceback"}
    clean = lambda module: {name: value for name, value in vars(module).items() if name not in SKIPPED}
    known = {name: names(clean(module)) for name, module in modules().items()}
    path, environment, shown = list(sys.path), dict(os.environ), list(warnings.filters)
    classes = {
        each: dict(vars(each))
        for module in modules().values()
        for each in list(vars(module).values())
        if isinstance(each, type) and each.__flags__ & (1 << 9)
    }

    def untouched(code):
        now = modules()
        if any(name not in now or not kept(clean(now[name]), copy) for name, copy in known.items()):
            return False
        if CHANGES.search(code) and any(dict(vars(each)) != copy for each, copy in classes.items()):
            return False
        return sys.path == path and dict(os.environ) == environment and listed() == files

    list_folder, state_of = os.listdir, os.fstat

    def listed():
        try:
            return [sorted(list_folder(folder)) for folder in FOLDERS], [state_of(stream)[1:3] for stream in (0, 1, 2)]
        except OSError:
            return None

    FOLDERS = ["/", "/tmp", "/home", *{os.path.dirname(each) or "/" for each in sys.path}]
    files = listed()

    def problem(error):
        frames = extract(error.__traceback__)
        own = [frame for frame in frames if frame.filename == "<python>"]
        lines = format_list(own) + format_error(error)
        return "".join(lines).strip()

    def execute(code, scope):
        try:
            exec(compile(code, "<python>", "exec", dont_inherit=True), scope)
            return None
        except SystemExit:
            return None
        except BaseException as error:
            return [type(error).__name__, problem(error)]

    def opened(session, seed):
        found = sessions.get(session)
        if found is None:
            seed_random(seed)
            scope = {"__name__": "__main__"}
            found = sessions[session] = {"scope": scope, "ran": 0, "random": random_state(), "context": Context()}
        return found

    def one(code, found, home):
        sys.stdout, sys.stderr, sys.stdin = streams
        makedirs(home, exist_ok=True)
        chdir(home)
        restore_random(found["random"])
        try:
            return found["context"].run(execute, code, found["scope"])
        finally:
            found["random"] = random_state()
            found["ran"] += 1
            for stream in (sys.stdout, sys.stderr, *streams[:2]):
                try:
                    stream.flush()
                except BaseException:
                    pass
            sys.stdout, sys.stderr, sys.stdin = streams
            sys.displayhook = display
            sys.setrecursionlimit(depth)
            sys.set_int_max_str_digits(digits)
            warnings.filters[:] = shown
            gc.enable()

    def forget(session):
        sessions.pop(session, None)
        chdir("/")
        rmtree(HOME + "/" + session, ignore_errors=True)
        for name in set(sys.modules) - set(known):
            sys.modules.pop(name, None)

    def run(request, begin):
        asked = loads(request)
        if "close" in asked:
            forget(asked["close"])
            return dumps({})
        session, programs = asked.get("session", "fresh"), asked["programs"]
        found = opened(session, asked["seed"])
        if found["ran"] != len(programs) - 1:
            # Another interpreter ran the programs before this one.
            forget(session)
            found = opened(session, asked["seed"])
            for code in programs[:-1]:
                one(code, found, HOME + "/" + session)
        begin()
        code = programs[-1]
        error = one(code, found, HOME + "/" + session)
        tainted = RISKY.search(code) is not None or not untouched(code)
        if session == "fresh":
            forget(session)
        return dumps({"error": error, "tainted": tainted})

    return run

_make()
`;
