"""What Hugging Face's `tokenizers` makes of a tokenizer.json of ours.

  node test/golden/word-tokenizer.mjs OUT.json     (after `npm run build`)
  python test/golden/word-tokenizer.py OUT.json    (tokenizers)

Adds ids and decoded texts to word-tokenizer.json beside this file.
"""

import json
import sys
from pathlib import Path

import tokenizers

path = Path(__file__).with_suffix(".json")
record = json.loads(path.read_text())
tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
record["tool"] = "tokenizers"
record["version"] = tokenizers.__version__
record["script"] = "word-tokenizer.py"
encoded = [tokenizer.encode(text, add_special_tokens=False).ids for text in record["texts"]]
record["ids"] = encoded
record["decoded"] = [tokenizer.decode(ids, skip_special_tokens=False) for ids in encoded]
path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n")
