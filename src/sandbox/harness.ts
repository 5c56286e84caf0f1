/** How an interpreter is loaded: without JavaScript's objects, and with equal hashes in each process. */
export const START = { jsglobals: {}, env: { PYTHONHASHSEED: "0", HOME: "/home/pyodide" } };

/** Modules that are loaded before the first program. */
export const IMPORTS = [
  "import contextvars, gc, json, opcode, os, random, re, shutil, sys, traceback, types, unicodedata, warnings",
  "import bisect, cmath, collections.abc, copy, datetime, decimal, fractions, functools, heapq, itertools, math",
  "import operator, statistics, string, time, typing",
].join("; ");

/**
 * Runs programs inside of the interpreter: `run(request)` takes and returns JSON. Nothing of one program is seen by the next one, except in a
 * session, whose names, random state and files stay.
 * - A program whose compiled names and instructions reach nothing that outlives it (`is_plain`) is run, and that is all.
 * - After any other one, modules, classes, folders and the environment are compared with copies; where one differs, `tainted` asks for
 *   another interpreter.
 * - Programs that look into the interpreter itself (`RISKY`) are always followed by another one.
 */
export const HARNESS = String.raw`
def _make():
    ${IMPORTS}

    RISKY = re.compile(
        r"_getframe|f_back|f_globals|f_builtins|tb_frame|gi_frame|cr_frame|ag_frame|get_objects|get_referrers"
        r"|ctypes|pyodide|__subclasses__|__globals__|__closure__|__code__|__defaults__|__kwdefaults__|__builtins__|meta_path|settrace|setprofile"
    )

    # Modules whose public functions change nothing but their arguments. What the other names lead to is found below.
    PLAIN = {
        "bisect", "cmath", "collections", "collections.abc", "copy", "datetime", "decimal", "fractions", "functools", "heapq", "itertools", "json",
        "math", "operator", "random", "re", "statistics", "string", "time", "typing",
    }
    # Built-in functions that reach any name, code or file; functions that set attributes of an argument, or read one that a text names.
    REACHING = set(
        "breakpoint compile copyright credits delattr dir eval exec exit getattr globals help license locals open quit setattr vars"
        " attrgetter methodcaller Formatter get_field update_wrapper wraps total_ordering singledispatch singledispatchmethod register"
        " ForwardRef evaluate_forward_ref get_type_hints final override overload get_overloads clear_overloads no_type_check"
        " no_type_check_decorator runtime_checkable dataclass_transform tzset".split()
    )
    HARMLESS = (type, int, float, complex, str, bytes, tuple, frozenset, type(None), types.FunctionType, types.MethodType, types.BuiltinFunctionType)
    for name in PLAIN:
        for key, value in vars(sys.modules[name]).items():
            if name != "typing" and not isinstance(value, HARMLESS) or isinstance(value, (types.ModuleType, dict, list, set)):
                REACHING.add(key)
    REACHING -= PLAIN | {"abc"}
    # Names with an underscore in front that a plain program may have.
    OWN = {"_", "__name__", "__module__", "__qualname__", "__firstlineno__", "__static_attributes__", "__classdict__", "__doc__"}
    OWN |= {"__%s__" % name for name in "init repr str eq ne lt le gt ge hash len iter next bool contains getitem setitem call".split()}
    OWN |= {"__%s__" % name for name in "add radd sub rsub mul rmul truediv rtruediv floordiv mod pow neg abs int float".split()}
    FRAMES = re.compile("(?:gi|cr|ag|tb|f|co)_")
    IMPORT, EXTENDED, MATCH = (opcode.opmap[name] for name in ("IMPORT_NAME", "EXTENDED_ARG", "MATCH_CLASS"))
    SETS = tuple(opcode.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR"))

    def look(code, seen):
        "Adds what code imports and whether it sets attributes to seen; false: it may reach what outlives it."
        for name in code.co_names:
            if name in REACHING or (name[0] == "_" and name not in OWN) or FRAMES.match(name):
                return False
        instructions, values = code.co_code[::2], code.co_code[1::2]
        if MATCH in instructions:
            return False
        if SETS[0] in instructions or SETS[1] in instructions:
            seen["sets"] = True
        if IMPORT in instructions:
            seen["imports"] = True
            for at, each in enumerate(instructions):
                if each == IMPORT and (instructions[at - 1] == EXTENDED or code.co_names[values[at]] not in PLAIN):
                    return False
        return all(look(each, seen) for each in code.co_consts if type(each) is types.CodeType)

    def is_plain(code, found):
        seen = found["seen"]
        found["plain"] = found["plain"] and look(code, seen) and not (seen["imports"] and seen["sets"])
        return found["plain"]

    HOME = "/home/pyodide"
    # A program may change what modules hold, and what comes after it must not use that.
    dumps, loads, chdir, makedirs, rmtree = json.dumps, json.loads, os.chdir, os.makedirs, shutil.rmtree
    format_list, format_error, extract = traceback.format_list, traceback.format_exception_only, traceback.extract_tb
    normalize, collect = unicodedata.normalize, gc.collect
    Context, seed_random, random_state, restore_random = contextvars.Context, random.seed, random.getstate, random.setstate
    streams = sys.stdout, sys.stderr, sys.stdin
    depth, digits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    display = sys.displayhook
    sessions = {}

    SKIPPED = {
        "__warningregistry__", "_cache", "_cache2", "cache", "filters", "gauss_next", "modules", "path_importer_cache", "last_exc",
        "last_type", "last_value", "last_traceback",
    }

    def contents(value):
        "A copy of what may change in a value that stays the same one; null: nothing that is looked at."
        if type(value) in (dict, list, set):
            return value.copy() if len(value) < 1000 else None
        if isinstance(value, type):
            return dict(vars(value)) if value.__flags__ & (1 << 9) else None
        if isinstance(value, decimal_context):
            return repr(value)
        if isinstance(value, (types.ModuleType, types.FunctionType)) or not hasattr(value, "__dict__"):
            return None
        return clean(value)

    def clean(value):
        return {name: each for name, each in vars(value).items() if name not in SKIPPED}

    def names(scope):
        return {name: (value, contents(value)) for name, value in scope.items()}

    def kept(scope, known):
        if scope.keys() != known.keys():
            return False
        return all(scope[name] is value and (copy is None or contents(value) == copy) for name, (value, copy) in known.items())

    def modules():
        return {name: module for name, module in sys.modules.items() if isinstance(module, types.ModuleType)}

    decimal_context = decimal.Context
    for each in typing.__all__:
        # Some are made when they are first asked for.
        getattr(typing, each)
    known = {name: names(clean(module)) for name, module in modules().items()}
    path, environment, shown = list(sys.path), dict(os.environ), list(warnings.filters)

    def untouched():
        now = modules()
        if any(name not in now or not kept(clean(now[name]), copy) for name, copy in known.items()):
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
            exec(code, scope)
            return None
        except SystemExit:
            return None
        except BaseException as error:
            return [type(error).__name__, problem(error)]

    def opened(session, seed):
        found = sessions.get(session)
        if found is None:
            seed_random(seed)
            found = {
                "scope": {"__name__": "__main__"},
                "ran": 0,
                "random": None if session is None else random_state(),
                "context": Context(),
                "plain": True,
                "seen": {"imports": False, "sets": False},
                "home": HOME + "/" + (session or "fresh"),
            }
            if session is not None:
                sessions[session] = found
        return found

    def flush(*used):
        for stream in used:
            try:
                stream.flush()
            except BaseException:
                pass

    def plainly(code, found):
        try:
            return found["context"].run(execute, code, found["scope"])
        finally:
            flush(*streams[:2])

    def widely(code, found):
        sys.stdout, sys.stderr, sys.stdin = streams
        makedirs(found["home"], exist_ok=True)
        chdir(found["home"])
        try:
            return found["context"].run(execute, code, found["scope"])
        finally:
            flush(sys.stdout, sys.stderr, *streams[:2])
            sys.stdout, sys.stderr, sys.stdin = streams
            sys.displayhook = display
            sys.setrecursionlimit(depth)
            sys.set_int_max_str_digits(digits)
            sys.path_importer_cache = {}
            warnings.filters[:] = shown
            gc.enable()

    def one(text, found):
        "The error of a program and whether it was plain."
        found["ran"] += 1
        try:
            code = compile(text, "<python>", "exec", dont_inherit=True)
        except BaseException as error:
            return [type(error).__name__, problem(error)], found["plain"]
        if found["random"] is not None:
            restore_random(found["random"])
        plain = is_plain(code, found)
        error = (plainly if plain else widely)(code, found)
        if found["random"] is not None:
            found["random"] = random_state()
        return error, plain

    def end(found):
        "What a program left is ended in its own time, and not in that of a later one."
        found["scope"].clear()
        collect()

    def forget(session, found):
        sessions.pop(session, None)
        if not found["plain"]:
            chdir("/")
            rmtree(found["home"], ignore_errors=True)
            for name in set(sys.modules) - set(known):
                sys.modules.pop(name, None)

    def run(request, begin):
        asked = loads(request)
        if "close" in asked:
            if found := sessions.get(asked["close"]):
                end(found)
                forget(asked["close"], found)
            return "{}"
        session, programs = asked.get("session"), asked["programs"]
        found = opened(session, asked["seed"])
        if found["ran"] != len(programs) - 1:
            # Another interpreter ran the programs before this one.
            end(found)
            forget(session, found)
            found = opened(session, asked["seed"])
            for text in programs[:-1]:
                one(text, found)
        begin()
        text, given = programs[-1], []
        if "answers" in asked:
            def final_answer(value):
                given.append(str(value))
                raise SystemExit

            found["scope"]["final_answer"] = final_answer
        error, plain = one(text, found)
        if session is None:
            end(found)
        tainted = not plain and (RISKY.search(normalize("NFKC", text)) is not None or not untouched())
        if session is None and not tainted:
            forget(session, found)
        answer = given[0] if given and type(given[0]) is str else None
        return dumps({"error": error, "tainted": tainted, "answer": answer})

    collect()
    gc.freeze()
    return run

_make()
`;
