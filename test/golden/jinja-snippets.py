"""What transformers' jinja2 makes of short templates, each of which uses one construct of the language.

  python test/golden/jinja-snippets.py     (transformers, jinja2; the date is set, nothing is drawn at random)

Writes jinja-snippets.json beside this file: the variables, and for each snippet its text, or the name of the error.
"""

import datetime
import json
import platform
import re
from pathlib import Path

import jinja2
import transformers
from transformers.utils import chat_template_utils


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 2, 3, 4, 5, 6)


chat_template_utils.datetime = Fixed

VARIABLES = {
    "name": "Amber mill",
    "padded": " \t\u00a0--mill-- \n\x1c",
    "word": "straße ǆ Ιησούς",
    "astral": "a🦙b🦙c",
    "quoted": "it's \"so\" \\ \n\t\x7f\u200b\u00e9",
    "numbers": [3, 1, 2, 10],
    "floats": [0.5, 1e-5, 123456.789, 0.1, -2.5e-7],
    "words": ["pear", "Apple", "fig", "apple"],
    "mixed": [1, "a", None, True, 0.25, [1, {"k": "v"}]],
    "people": [
        {"name": "Mara", "age": 31, "city": {"name": "Lindow"}},
        {"name": "abel", "age": 9, "city": {"name": "Amber"}},
        {"name": "Zoe", "age": 31, "city": {"name": "Lindow"}},
    ],
    "tree": [{"n": "a", "kids": [{"n": "b", "kids": []}, {"n": "c", "kids": [{"n": "d", "kids": []}]}]}],
    "table": {"b": 1, "a": [True, None], "items": "own", "C": {"x": "<ü>"}, "d": None},
    "schema": {"type": "object", "properties": {"q": {"type": ["string", "null"]}}, "required": ["q"]},
    "empty": "",
    "nothing": None,
    "yes": True,
    "n": 7,
    "xml": "<a href='x'>&\"</a>",
    "lines": "one\n\n  two\u2028three\r\nfour\n",
    "text": "<think>\n  a\n</think>\n\n b",
    "call": {"name": "search", "arguments": {"query": "Oslo \"x\"", "k": 3, "exact": True, "not": None}},
}

SNIPPETS = """
{{ name.strip('A') }}|{{ name.lstrip('Am') }}|{{ name.rstrip('l') }}|{{ 'xxaxx'.strip('x') }}|{{ 'abc'.strip('') }}
[{{ padded.strip() }}][{{ padded|trim }}][{{ padded.lstrip() }}][{{ padded.rstrip() }}]
{{ padded.strip(' \\n')|tojson }}{{ '--a--'|trim('-') }}
{{ text.split('</think>')[0].split('<think>')[-1].strip('\\n') }}|{{ text.split('</think>')[-1].lstrip('\\n') }}
{{ name.upper() }}{{ name.lower() }}{{ name.title() }}{{ 'aB cD'.capitalize() }}{{ "they're x-ray".title() }}
{{ word.upper() }} {{ 'ΙΗΣΟΥΣ'.lower() }} {{ 'ΙΗΣΟΥΣ'|lower }} {{ "they're x-ray (one) <two"|title }}
{{ word|title }}
{{ word.title() }}
{{ 'a b  c '.split() }}{{ 'a b  c '.split(' ') }}{{ 'a,b,c'.split(',', 1) }}{{ 'a b c'.split(none, 1) }}
{{ 'a,b,c'.rsplit(',', 1) }}{{ ' a  b c '.rsplit(maxsplit=1) }}{{ ''.split() }}{{ ''.split(',') }}{{ 'a b'.split(maxsplit=0) }}
{{ 'a-b-c'.partition('-') }}{{ 'a-b-c'.rpartition('-') }}{{ 'abc'.partition('-') }}
{{ 'a'.split('') }}
{{ name.startswith('Am') }}{{ name.endswith(('x', 'll')) }}{{ name.startswith('') }}
{{ name.startswith(1) }}
{{ name.find('m') }}{{ name.find('zz') }}{{ name.rfind('l') }}{{ name.index('m') }}{{ name.count('l') }}{{ 'aaa'.count('aa') }}{{ 'ab'.count('') }}
{{ name.index('zz') }}
{{ astral.find('b') }}{{ astral|length }}{{ astral[1] }}{{ astral[1:3] }}{{ astral[::-1] }}{{ astral|reverse }}
{{ name.replace('m', 'MM') }}{{ name.replace('l', 'L', 1) }}{{ name|replace('l', 'L', 1) }}{{ 'ab'.replace('', '-') }}{{ 1|replace(1, 2) }}
{{ 'abc'.removeprefix('a') }}{{ 'abc'.removesuffix('c') }}{{ 'abc'.removesuffix('x') }}{{ '7'.zfill(3) }}{{ '-7'.zfill(4) }}
[{{ 'ab'.center(7) }}][{{ 'ab'.center(7, '*') }}][{{ 'a'.ljust(3) }}][{{ 'a'.rjust(3, '.') }}][{{ 'abc'|center(8) }}][{{ 'ab'.center(6) }}]
{{ '-'.join(words) }}{{ words|join(', ') }}{{ people|join('+', attribute='name') }}{{ mixed|join }}{{ [1, none, true]|join('/') }}
{{ '-'.join(numbers) }}
{{ lines.splitlines() }}{{ lines.splitlines(true) }}
{{ 'a1'.isalnum() }}{{ '12'.isdigit() }}{{ 'é'.isalpha() }}{{ ' '.isspace() }}{{ 'AB1'.isupper() }}{{ 'ab1'.islower() }}{{ '1'.islower() }}{{ ''.isalpha() }}{{ 'a'.isascii() }}{{ '٣'.isdecimal() }}
{{ table.d }}{{ table['d'] }}{{ table.get('d', 1) }}{{ 'd' in table }}{{ table.d is none }}{{ table|attr('d') }}
{{ [1, none]|last }}{{ [none]|first }}{{ [none]|max }}{% set ns = namespace(x=none) %}{{ ns.x }}{{ ns.x is none }}{{ ns|attr('x') }}{% for x in [none, none] %}{{ x }}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}
{{ '<' + (xml|safe) + '>' }}|{{ (xml|e) + (xml|safe) }}
{{ (xml|safe) + 1 }}
{{ '{} {} {{}}'.format(1, none) }}{{ '{1}{0}{a}'.format('x', [1], a=2.0) }}{{ '{}'.format(undefined_name) }}
{{ '{}{0}'.format(1) }}
{{ '{} {}'.format(1) }}
{{ '{:>5}'.format(1) }}
{{ '{0.x}'.format(1) }}
{{ 'abc'.encode() }}
{{ '{} {}'.format(1, 2) }}
{{ '%s and %r' % (name, quoted) }}|{{ '%d %5d|%-5d|%05d' % (1, 2, 3, -4) }}|{{ '%.2f %5.1f' % (1.005, 2.25) }}|{{ '%s' % none }}|{{ '%%%s' % 1 }}
{{ '%(a)s-%(b)s' % {'a': 1, 'b': 'x'} }}|{{ '%s %s'|format('a', 1.0) }}|{{ '%(x)s'|format(x=2) }}
{{ '%s %s' % 'a' }}
{{ 'a' % 'b' }}
{{ '%.0f %.0f %.0f %.1f' % (0.5, 1.5, 2.5, 0.25) }}
{{ true }} {{ false }} {{ none }} {{ True }} {{ None }} {{ [true, none] }} {{ {'a': none} }}
{{ 1.0 }} {{ 1e3 }} {{ 1_000 }} {{ 0x1f }} {{ 0b11 }} {{ 0o17 }} {{ 1.5e-7 }} {{ 12345678901234567890 }} {{ 1e100 }}
{{ floats }} {{ floats[1] }} {{ floats|tojson }}
{{ 7 / 2 }} {{ 6 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** 10 }} {{ 2 ** 3 ** 2 }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 0.1 + 0.2 }} {{ 1 + 1.0 }} {{ true + 1 }} {{ 10 - 0.5 }} {{ 3 * 1.5 }} {{ 2 ** 100 }} {{ 5 - -3 }} {{ +n }} {{ -n }}
{{ 'a' * 3 }} {{ [1] * 2 }} {{ [1] + [2] }} {{ (1,) + (2,) }} {{ 3 * 'ab' }} {{ 'a' * -1 }}
{{ 'a' + 1 }}
{{ [1] + (2,) }}
{{ 1 ~ 2 ~ none ~ true ~ 1.0 ~ [1] }} {{ 'a' ~ undefined_name ~ 'b' }}
{{ 1 ~ 2 + 3 }}
{{ 'a' + 'b' ~ 'c' + 'd' }} {{ 1 + 2 ~ 3 * 2 }}
{{ -1|abs }} {{ -n|abs }} {{ 2 * 3|string }} {{ (2 * 3)|string ~ '!' }} {{ 2.5|round }} {{ 3.5|round }} {{ 42.55|round(1) }} {{ 42|round }} {{ 2.675|round(2) }} {{ 42.1|round(0, 'ceil') }} {{ 42.59|round(1, 'floor') }}
{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ 1 == true }} {{ 'a' == 1 }} {{ [1, 2] == [1, 2.0] }} {{ (1,) == [1] }} {{ none == none }} {{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}
{{ 'a' < 'b' }} {{ 'Z' < 'a' }} {{ [1, 2] < [1, 3] }} {{ (1,) < (1, 0) }} {{ '\\uffff' < '🦙' }} {{ true < 2 }}
{{ 1 < 'a' }}
{{ none < 1 }}
{{ 'a' in 'abc' }} {{ 'a' not in ['a'] }} {{ 1 in [1.0] }} {{ 'b' in table }} {{ 'z' in table }} {{ 1 in (1, 2) }} {{ '' in 'a' }} {{ 'own' in table.values() }} {{ not 'a' in 'b' }}
{{ 1 in 'abc' }}
{{ 1 in none }}
{{ 'x' in undefined_name }}
{{ 1 and 2 }} {{ 0 or 'x' }} {{ '' or none }} {{ not 0 }} {{ 1 and '' }} {{ [] or {} }} {{ not not 1 }} {{ not true == false }}
{{ 'y' if yes else 'n' }}{{ 'y' if not yes }}{{ 'a' if 0 else 'b' if 0 else 'c' }}|{{ ('x' if false) is undefined }}
{{ [1, 2, 3][-1] }} {{ [1][5] }} {{ 'abc'[-2] }} {{ 'abc'[9] }} {{ numbers[1:] }} {{ numbers[:-1] }} {{ numbers[::2] }} {{ numbers[::-1] }} {{ numbers[-3:-1] }} {{ 'abcdef'[4:1:-1] }} {{ (1, 2, 3)[:2] }} {{ numbers[5:] }}
{{ numbers['0'] }}|{{ numbers.0 }}|{{ numbers[true] }}|{{ table['a'] }}|{{ table.a }}|{{ table['zz'] }}|{{ table.zz }}|{{ none['x'] }}|{{ none.x }}|{{ n.x }}
{{ undefined_name.x }}
{{ undefined_name['x'] }}
{{ table.zz.y }}
{{ table[1:] }}
{{ numbers['a':] }}
{{ table['items'] }} {{ table.items() }}
{{ table.items }}
{{ table.keys() }} {{ table.values() }} {{ table.keys()|list }} {{ table|list }} {{ table.get('b') }} {{ table.get('zz') }} {{ table.get('zz', 'd') }} {{ table|length }} {{ table.copy() == table }}
{{ table.keys()[0] }}|{{ table.items()|first }}|{{ (table.items()|list)[1][0] }}
{% for k, v in table.items() %}{{ k }}={{ v }};{% endfor %}{% for k in table %}{{ k }}{% endfor %}{% for k, v in table|items %}{{ loop.index }}{{ k }}{% endfor %}
{% for k, v in table|dictsort %}{{ k }}{% endfor %} {{ {'b': 1, 'a': 2}|dictsort(by='value') }} {{ {'b': 1, 'A': 2, 'c': 0}|dictsort(true) }} {{ {'b': 1, 'a': 2}|dictsort(reverse=true) }}
{{ {'a': none, 'b': none}|dictsort(by='value') }}
{{ numbers.append(1) }}
{% do numbers.append(1) %}
{{ table.update({'a': 1}) }}
{{ table.pop('a') }}
{{ numbers.append is defined }} {{ numbers.index(2) }} {{ numbers.count(3) }} {{ numbers.copy() }} {{ (1, 2, 1).count(1) }}
{{ numbers.index(99) }}
{{ {1: 'a', 1.0: 'b', true: 'c'} }} {{ {'a': 1, 'a': 2} }} {{ {(1, 2): 3}[(1, 2)] }} {{ {none: 1} }} {{ {1: 2}[1.0] }}
{{ {[1]: 2} }}
{{ mixed }}
{{ mixed|string|length }} {{ (1,) }} {{ () }} {{ (1, 'a') }} {{ 1, 2 }} {{ [[], {}, ''] }}
{{ [quoted] }}
{{ ["it's", 'say "x"', 'both \\' "'] }} {{ ['\\ud83e\\udd99', 'é', '\\x00', '\\u2028'] }}
{{ [undefined_name] }} {{ [undefined_name, 1]|length }}
{{ table|tojson }}
{{ table|tojson(indent=2) }} {{ []|tojson(indent=2) }} {{ {}|tojson(indent=2) }}
{{ schema|tojson(indent=4, sort_keys=true) }} {{ table|tojson(separators=(',', ':')) }} {{ table|tojson(ensure_ascii=true) }}
{{ [quoted, astral, xml, nothing, 1.0, 1e16, (1, 2)]|tojson }} {{ [quoted, astral]|tojson(true) }} {{ {1: 2, none: 3, true: 4, 1.5: 5}|tojson }}
{{ {'a': [1, {'b': []}]}|tojson(indent=0) }} {{ {'a': [1]}|tojson(indent='--') }}
{{ undefined_name|tojson }}
{{ table.items()|tojson }}
{{ (words|map('upper'))|tojson }}
{{ call.arguments|tojson }} {{ call|tojson }} {{ call.arguments }}
{{ xml|e }} {{ xml|escape|length }}
{{ xml|safe }} {{ xml|e ~ '<' }} {{ (xml|safe) is string }}
{{ xml|escape + '<' }}
{{ words|sort }} {{ words|sort(true) }} {{ words|sort(case_sensitive=true) }} {{ numbers|sort(reverse=true) }} {{ people|sort(attribute='age,name')|map(attribute='name')|list }} {{ [true, 0, 2]|sort }}
{{ [1, 'a']|sort }}
{{ [none, none]|sort }} {{ [none]|sort }}
{{ people|groupby('age') }}
{% for g in people|groupby('city.name') %}{{ g.grouper }}:{{ g.list|length }}{% for k, v in [g] %}{{ k }}{% endfor %};{% endfor %}{{ (words|groupby(0))[0].grouper }}
{{ people|map(attribute='city.name')|unique|list }} {{ words|unique|list }} {{ words|unique(true)|list }} {{ people|map(attribute='x', default='-')|list }} {{ people|map('upper')|list|length }}
{{ words|map('replace', 'p', 'P')|list }} {{ words|map('length')|sum }} {{ people|sum(attribute='age') }} {{ [[1], [2]]|sum(start=[]) }} {{ words|map('first')|join }}
{{ words|map('nosuch')|list }}
{{ floats|sum }}
{{ ['a']|sum }}
{{ words|select('equalto', 'fig')|list }} {{ words|reject('in', ['fig'])|list }} {{ people|selectattr('age', 'gt', 10)|map(attribute='name')|list }} {{ people|rejectattr('age', 'equalto', 31)|list|length }} {{ mixed|select|list }} {{ mixed|reject('string')|list|length }}
{{ 'yes' if people|selectattr('age', 'gt', 99) else 'no' }} {{ 'yes' if people|selectattr('age', 'gt', 99)|list else 'no' }}
{{ (people|selectattr('age', 'gt', 10)|list)[0].name }}|{{ (people|map(attribute='age'))[0] }}
{{ people|map(attribute='age')|length }}
{% set g = numbers|map('string') %}{{ g|list }}{{ g|list }}{{ 'x' if g }}
{{ words|map('upper') }}
{{ numbers|first }} {{ numbers|last }} {{ []|first }}|{{ []|last }} {{ 'abc'|first }} {{ 'abc'|last }} {{ numbers|min }} {{ numbers|max }} {{ words|max }} {{ words|min }} {{ people|max(attribute='age') }} {{ []|max }}
{{ (words|map('upper'))|last }}
{{ []|first + 1 }}
{{ numbers|reverse|list }} {{ 'abc'|reverse }} {{ table|reverse|list }} {{ numbers|batch(3)|list }} {{ numbers|batch(3, 0)|list }} {{ numbers|slice(3)|list }} {{ numbers|slice(3, 'x')|list }}
{{ 'a'|list }} {{ range(3) }} {{ range(3)|list }} {{ range(1, 7, 2)|list }} {{ range(5, 0, -2)|list }} {{ range(2, 8, 3) }} {{ range(3)[1] }} {{ range(4)|length }} {{ 2 in range(3) }}
{{ range(100001)|length }}
{{ range(1.5) }}
{{ nothing|default('d') }} {{ nothing|default('d', true) }} {{ undefined_name|default('d') }} {{ undefined_name|d }}| {{ ''|default('x', boolean=true) }} {{ table.zz|default('q') }}
{{ undefined_name.x|default('d') }}
{{ '42'|int }} {{ '42.9'|int }} {{ 'x'|int }} {{ 'x'|int(5) }} {{ 3.99|int }} {{ -3.99|int }} {{ true|int }} {{ nothing|int }} {{ '1e3'|int }} {{ ' 7 '|int }} {{ '1_0'|int }} {{ '3.5'|float }} {{ 'x'|float }} {{ 3|float }} {{ 'inf'|float }} {{ '1e5'|float }} {{ '.5'|float }}
{{ lines|indent }}|{{ lines|indent(2, true) }}|{{ lines|indent(2, blank=true) }}|{{ 'a\\nb'|indent('> ', first=true) }}
{{ 1|indent }}
{{ 'the quick brown fox jumps'|truncate(12) }} {{ 'the quick brown fox jumps'|truncate(12, true) }} {{ 'the quick brown'|truncate(12) }} {{ 'the quick brown fox'|truncate(9, false, '!', 0) }} {{ name|wordcount }}
{{ 'a b'|urlencode }}
{{ 'x'|nosuch }}
{{ 'aBc'|capitalize }} {{ 5|string + '!' }} {{ 3|upper }} {{ none|upper }} {{ undefined_name|upper }}| {{ undefined_name|trim }}| {{ undefined_name|length }} {{ nothing|string|length }}
{{ nothing|length }}
{{ 5|length }}
{{ n is odd }} {{ n is even }} {{ n is divisibleby(7) }} {{ n is divisibleby 2 }} {{ n is defined }} {{ zz is defined }} {{ zz is undefined }} {{ nothing is none }} {{ yes is true }} {{ 1 is true }} {{ yes is boolean }} {{ 1 is boolean }}
{{ n is integer }} {{ true is integer }} {{ 1.0 is float }} {{ 1.0 is integer }} {{ true is number }} {{ 'a' is number }} {{ name is string }} {{ table is mapping }} {{ numbers is mapping }} {{ numbers is sequence }} {{ table is sequence }} {{ name is sequence }} {{ 5 is sequence }} {{ zz is sequence }}
{{ name is iterable }} {{ 5 is iterable }} {{ table is iterable }} {{ range is callable }} {{ name is callable }} {{ zz is iterable }} {{ (words|map('upper')) is iterable }} {{ (words|map('upper')) is sequence }} {{ table.items() is sequence }} {{ none is iterable }}
{{ 'AB' is upper }} {{ 'ab' is lower }} {{ 'A1' is upper }} {{ 1 is lower }} {{ 3 is eq 3 }} {{ 3 is ne 3 }} {{ 3 is gt 2 }} {{ 3 is lessthan(2) }} {{ 'a' is in 'abc' }} {{ 'a' is in ['b'] }} {{ 1 is not none }} {{ none is sameas none }} {{ 'upper' is filter }} {{ 'zz' is filter }} {{ 'odd' is test }}
{{ not name is string }} {{ name is not string }} {{ name is string and n is odd }} {{ 1 + 1 is odd }} {{ (1 + 2) is odd }} {{ 4 * 4 is divisibleby(2) }}
{{ 'a' is odd }}
{{ 1 is nosuch }}
{{ name is defined is true }}
{% for x in numbers %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.depth }};{% endfor %}
{% for x in numbers %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 2) }} {% endfor %}{% for x in [] %}x{% else %}none{% endfor %}
{% for x in numbers if x > 1 %}{{ loop.index }}/{{ loop.length }}:{{ x }}{% if not loop.last %}, {% endif %}{% else %}none{% endfor %}
{% for x in numbers if x > 99 %}x{% else %}none{% endfor %}{% for x in undefined_name %}x{% else %}e{% endfor %}
{% for x in numbers %}{% if x == 2 %}{% break %}{% endif %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}
{% for x in numbers %}{% for y in words %}{{ loop.index }}{% if loop.index == 2 %}{% break %}{% endif %}{% endfor %}{{ loop.index }};{% endfor %}
{% for n in tree recursive %}{{ loop.depth }}{{ n.n }}{% if n.kids %}({{ loop(n.kids) }}){% endif %}{% endfor %}
{% for x in numbers %}{{ loop(numbers) }}{% endfor %}
{% for a, b in [(1, 2), [3, 4]] %}{{ a }}{{ b }}{% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for a, b in ['xy'] %}{{ b }}{{ a }}{% endfor %}
{% for a, b in [(1, 2, 3)] %}{{ a }}{% endfor %}
{% for a, b in numbers %}{{ a }}{% endfor %}
{% for x in 5 %}{{ x }}{% endfor %}
{% for x in none %}{{ x }}{% endfor %}
{% for c in astral %}{{ c }}.{% endfor %}{% for x in 1, 2 %}{{ x }}{% endfor %}{% for x in range(3) %}{{ x }}{% endfor %}
{% for x in numbers %}{{ loop }}{% endfor %}
{% set x = 1 %}{% for i in numbers %}{% set x = x + i %}{{ x }},{% endfor %}{{ x }}
{% for i in numbers %}{% if loop.first %}{% set y = i %}{% endif %}{{ y }}|{% endfor %}{{ y is defined }}
{% for i in numbers %}{% endfor %}{{ i is defined }}{{ loop is defined }}{% set i = 5 %}{% for i in [1] %}{% endfor %}{{ i }}
{% set ns = namespace(x=1, found=false) %}{% for i in numbers %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}{{ ns.zz is defined }}{{ ns.found }}
{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}{% set ns.c = ns.a, ns.b %}{{ ns.c }}
{% set ns = namespace() %}{% set ns._x = 1 %}{{ ns._x }}
{% set n.x = 1 %}
{{ namespace(x=1) }}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}{% set (d, e) = [3, 4] %}{{ d }}{{ e }}
{% set a, b = [1] %}
{% if true %}{% set z = 1 %}{% endif %}{{ z }}{% if false %}{% set q = 1 %}{% endif %}{{ q is defined }}
{% set x %}  a {{ n }}\\n{% endset %}[{{ x }}]{% set y | upper | trim %} a {% endset %}[{{ y }}]{% set x %}{% set inner = 1 %}{% endset %}{{ inner is defined }}
{% with a = 1, b = n %}{{ a }}{{ b }}{% set c = 3 %}{% endwith %}{{ a is defined }}{{ c is defined }}
{% filter upper %}a{{ n }}b{% endfilter %}{% filter replace('a', 'b')|indent(2, true) %}aa\\naa{% endfilter %}
{% macro m(a, b=2, c='x') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, c=3) }}{{ m() }}{{ m(1, 2, 3)|length }}{{ m(b=none) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(z=2) }}
{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{% macro v(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ v(1, 2, 3, x=4) }}{{ v() }}
{% macro m() %}{{ caller('x') }}{{ caller('y') }}{% endmacro %}{% call(z) m() %}<{{ z }}>{% endcall %}{% macro k() %}{{ caller is defined }}{% endmacro %}{{ k() }}
{% macro outer(x) %}{% for i in range(x) %}{{ i }}{{ outer(x - 1) }}{% endfor %}{% endmacro %}{{ outer(3) }}
{% set x = 'top' %}{% macro m() %}{{ x }}{{ y }}{% endmacro %}{% set y = 'late' %}{% for x in [1] %}{{ m() }}{% endfor %}{{ m() }}
{% for x in [1, 2] %}{% macro m() %}{{ x }}{{ loop.index }}{% endmacro %}{{ m() }}{% endfor %}{{ m is defined }}
{% macro m() %}{% set x = 1 %}{{ x }}{% endmacro %}{{ m() }}{{ x is defined }}
{% macro m(a) %}{{ a is defined }}{{ a }}{% endmacro %}{{ m() }}{{ m(none) }}{{ m(undefined_name) }}
{{ m }}{% macro m() %}x{% endmacro %}
{% macro m() %}x{% endmacro %}{{ m }}
{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(*[1, 2]) }}{{ m(**{'a': 1, 'b': 2}) }}{{ dict(a=1, **{'b': 2}) }}{{ dict([('x', 1)]) }}
{{ raise_exception('no: ' ~ n) }}
{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d %H:%M:%S') }} {{ strftime_now('%A %B %-d, %j %y %p %I %%') }} {{ strftime_now is defined }}
{% generation %}a{{ n }}{% endgeneration %}b {%- generation %} c {%- endgeneration -%} d{% generation %}{% set x = 1 %}{% endgeneration %}{{ x is defined }}
a {%- if yes %} b {% endif -%} c{{- n -}} d {{+ n }} {%+ if yes %}e{% endif +%}
  {% if yes %}¶  a¶  {% endif %}¶  {{ n }}¶  {# note #}¶b¶
x {% if yes %}¶¶{% endif %}  ¶ y{%- if yes -%}  ¶  z  {%- endif %}
{# a {{ b }} #}x{#- y -#}  z {#-#} w{# {% raw %} #}
{% raw %}{{ x }} {% if %}{% endraw %}|{%- raw -%}  {{ y }}  {%- endraw -%}  |
{{ '{{' }}{{ '%}' }}{{ "{% if %}" }}{{ {'a': {'b': 1}}['a'] }}{{ {'a': {}} }}
{{ '-}}¶' }}a}¶%}¶#}¶b
{{ 'tab\\t nl\\n q\\' dq\\" bs\\\\ u\\u00e9 x\\x41 oct\\101 \\d \\/ \\a'|tojson }}
{{ "a" "b" 'c' }} {{ 'multi¶line' }}
{{ '\\x4' }}
{{ 'é' ~ '🦙'|length }}{{ '\\U0001f999'|length }}
a¬¶b¬{{ 'c¬¶d' }}¬¶
{% if n > 5 and n < 10 or false %}in{% elif n == 5 %}five{% else %}out{% endif %}{% if not table %}e{% endif %}{% if [] %}x{% elif '' %}y{% elif 0.0 %}z{% endif %}
{% if n == 7: %}colon{% endif %}
{% if %}{% endif %}
{% for x in numbers %}
{{ n
{% endfor %}
{{ n }
{{ }}
{{ (1 }}
{{ [1, 2 3] }}
{% unknown %}
{% if n %}{% endfor %}
{{ a b }}
{% include 'x' %}
{% block a %}x{% endblock %}
{{ cycler('a', 'b').next() }}
{{ joiner(',') }}
{{ name.__class__ }}
{{ ''.__class__.__mro__ }}
{{ name.zz }}|{{ name.zz is defined }}|{{ numbers.zz }}
{{ name() }}
{{ undefined_name() }}
{{ table.zz() }}
{{ undefined_name + 1 }}
{{ 1 + undefined_name }}
{{ undefined_name < 1 }}
{{ undefined_name == zz }} {{ undefined_name == none }} {{ undefined_name == '' }} {{ undefined_name ~ 'x' }} {{ undefined_name|list }} {{ undefined_name|join }} {{ not undefined_name }} {{ undefined_name in [1] }}
{{ -undefined_name }}
{{ 'a'.split(undefined_name) }}
{{ name[undefined_name] }}|{{ table[undefined_name] }}|{{ undefined_name if undefined_name is defined else 'gone' }}
{{ table|attr('b') }}|{{ name|attr('upper') is defined }}|{{ people[0]|attr('name') }}
{{ people[0]['name'] }}{{ people.0.name }}{{ people[-1].city.name[0] }}{{ table.C['x'] }}{{ people[0].get('x', {}).get('y') }}
{{ (1, 2)|tojson }} {{ (n, name) }} {{ [n, name][0] }} {{ [[1, 2], [3]]|map('sum')|list }} {{ [1, 2, 3]|sum / 2 }}
{{ 10000000000000000 }} {{ 1e15 }} {{ 1e16 }} {{ 123456789012345680.0 }} {{ 0.0001 }} {{ 0.00001 }} {{ -0.0 }} {{ 5e-324 }} {{ 1.7976931348623157e308 }} {{ 100 * 1.1 }}
{{ 'a' > 'B' }}{{ 'Äpfel' < 'Zebra' }}{{ ['é', 'z', 'e', 'Z']|sort }}{{ ['b', 'B', 'a']|sort(case_sensitive=false) }}
{{ people|map(attribute='name')|sort|join(' ') }}{{ people|sort(attribute='city.name', reverse=true)|map(attribute='name')|join(' ') }}
{{ n.bit_length() }}
{{ [1, 2]|join(d='-') }}{{ 'x'|default(value='y') }}
{{ 'x'|replace('x') }}
{{ messages is defined }}{{ tools is none }}{{ loop is defined }}{{ self is defined }}
{{ words|first|upper|lower|capitalize }}{{ (words|first).upper().lower() }}{{ words[0][0]|upper }}{{ 'a'|upper ~ 'b'|upper }}
{%- set calls = [] -%}{%- for p in people -%}{%- set calls = calls + [p.name] -%}{%- endfor -%}{{ calls }}
{% for m in people %}{{ '<s>' if loop.first else ('</s>' if loop.last else '-') }}{{ m['name'] | trim }}{% endfor %}
{% set i = (numbers|length) - 1 %}{{ i }}{{ numbers[i] }}{{ numbers[(i - 1)] }}{{ numbers[i:] }}{{ (n % 2 == 0) != (0 % 2 == 0) }}
""".strip("\n").split("\n")

# Snippets stand one a line; ¶ is a line feed and ¬ a carriage return of the template itself.
snippets = [line.replace("¶", "\n").replace("¬", "\r") for line in SNIPPETS]

results = []
for source in snippets:
    try:
        compiled = chat_template_utils._compile_jinja_template(source)
        text = compiled.render(messages=[], tools=None, documents=None, add_generation_prompt=False, **VARIABLES)
        # Addresses differ from run to run.
        results.append({"template": source, "text": re.sub("0x[0-9a-f]{6,}", "0x…", text)})
    except jinja2.exceptions.TemplateError as error:
        refused = type(error) is jinja2.exceptions.TemplateError
        results.append({"template": source, **({"refused": str(error)} if refused else {"error": type(error).__name__})})
    except Exception as error:
        results.append({"template": source, "error": type(error).__name__})

record = {
    "tool": "transformers",
    "version": transformers.__version__,
    "jinja2": jinja2.__version__,
    "python": platform.python_version(),
    "script": "jinja-snippets.py",
    "seed": "none: nothing is drawn",
    "date": "2026-02-03T04:05:06",
    "variables": VARIABLES,
    "snippets": results,
}
path = Path(__file__).with_suffix(".json")
path.write_text(json.dumps(record, ensure_ascii=True, indent=1) + "\n")
print(len(results), "snippets,", sum("error" in each for each in results), "errors")
