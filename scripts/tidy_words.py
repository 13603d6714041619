"""The words of the project: what a program can check of the style that HACKING.md describes.

`scripts/tidy --words` prints a complaint for each place that breaks a rule. There are no exceptions: a sentence that the checker
misunderstands is usually one that a reader misunderstands, too.
"""

import json
import re
import subprocess

#: A sentence beyond this is two sentences.
WORDS_MAX = 30
SUBJECT_COLUMNS_MAX = 72
#: Commits after this one follow the rules for subjects. In a clone without it (a shallow one) nothing is checked. History stays as
#: it is: if a bad subject has landed, name its commit here.
SUBJECTS_SINCE = "928e362c2c13"

#: A sentence names its actor first. These openings hide it, unless they ask a question.
OPENINGS = re.compile(r"^[(\"'*_]*(Of|Who|Whoever|Whom|Whomever|Whose|What|Whatever)\b")
#: Each with what to write instead.
PHRASES = [
    (re.compile(r"\b(whoever|whomever|whom)\b", re.I), "name the actor"),
    (re.compile(r"\bsomebody\b", re.I), "name the actor"),
    (re.compile(r"\b(?<!there )(is|are|was|were) none\b(?! of)", re.I), "negate the verb: it is not, there is no, invalid"),
    (re.compile(r"\bthere (is|are) no such\b", re.I), "say what does not exist: unknown, missing"),
    (re.compile(r"\bso (many|much) (at|from|of|and|as|to|is|are|was|were|on)\b(?! possible)", re.I), "name the number or the limit"),
    (re.compile(r"\b(that|which) there (is|are) not\b", re.I), "unknown, missing"),
]
#: A log message begins with its subject or with the verb whose object it names, not with a pronoun.
LOG_OPENINGS = re.compile(r"^(it|its|they|their|them|this|that|these|those|who|whoever|what|whatever|nobody|somebody|of|one|no|none)\b", re.I)
LOG_CALL = re.compile(r"\blog::(?:trace|debug|info|warning|error|critical)\(\s*\"[^\"]*\",\s*(?:std::string\()?\"((?:[^\"\\]|\\.)*)\"")

#: `area: imperative verb ...`: an area, and a verb in its base form.
SUBJECT = re.compile(r"^[a-z][a-z0-9_, /-]*: ([a-z]+)\b")
#: First words of subjects that are no imperative: articles, pronouns, nouns and verb forms that past subjects began with.
NO_IMPERATIVES = frozenset(
    "a an the it its they their this that these those who whoever what whatever nobody somebody of one no none all every each many "
    "some which whose when where how there here".split())

ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|St|No)\.$")
SENTENCE_END = re.compile(r"(?<=[.!?])[)\"'*_`]*\s+(?=[(\"'*_`]*[A-Z0-9`])")


def sentences(text):
    """The sentences of a paragraph."""
    parts = SENTENCE_END.split(" ".join(text.split()))
    found = []
    for part in parts:
        if found and ABBREVIATIONS.search(found[-1]):
            found[-1] += " " + part
        else:
            found.append(part)
    return [part for part in found if part]


def word_count(sentence):
    """Words of a sentence's longest part between colons and semicolons: code counts as one, a link as its text."""
    text = re.sub(r"`[^`]*`", "code", sentence)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return max(len(re.findall(r"[A-Za-z][A-Za-z'’-]*", part)) for part in re.split(r"[;:](?=\s)", text))


def paragraphs(markdown):
    """Pairs of line number and text: paragraphs, list items, footnotes and cells of tables, without code, headings and comments."""
    block, first, fence, comment = [], 0, None, False
    for number, line in enumerate([*markdown.splitlines(), ""], 1):
        bare = line.strip()
        if fence is None and (opened := re.match(r"(`{3,}|~{3,})", bare)):
            if block:
                yield first, " ".join(block)
            block, fence = [], opened.group(1)
            continue
        if fence is not None:
            fence = None if bare.startswith(fence) else fence
            continue
        if comment or bare.startswith("<!--"):
            comment = "-->" not in bare
            continue
        is_item = re.match(r"([-*+]|\d+\.|\[\^[^]]+\]:)\s+", bare)
        if not bare or bare.startswith(("#", "|", "!", ">")) or is_item:
            if block:
                yield first, " ".join(block)
            block = []
        if bare.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", bare)[1:-1]:
                if re.search(r"[A-Za-z]", cell):
                    yield number, cell.strip()
        elif bare and not bare.startswith(("#", "!")):
            if not block:
                first = number
            block.append(bare[is_item.end():] if is_item else bare.lstrip("> "))


def comments(source):
    """Pairs of line number and text of each comment, consecutive lines together."""
    block, first = [], 0
    for number, line in enumerate([*source.splitlines(), ""], 1):
        found = re.search(r"(?:^|\s)//[/!]?<?\s?(.*)$", without_strings(line))
        if found is None:
            if block:
                yield first, " ".join(block)
            block = []
            continue
        starts_alone = line.lstrip().startswith("//")
        if block and not starts_alone:
            yield first, " ".join(block)
            block = []
        text = found.group(1).strip()
        if not text or re.match(r"([-*]|\d+\.)\s", text):
            if block:
                yield first, " ".join(block)
            block = []
            text = re.sub(r"^([-*]|\d+\.)\s+", "", text)
        if text:
            if not block:
                first = number
            block.append(text)


def without_strings(line):
    return re.sub(r'"(?:\\.|[^"\\])*"', lambda match: '"' + " " * (len(match.group()) - 2) + '"', line)


def problems_of(text):
    """What is wrong with the words of a paragraph or comment."""
    for sentence in sentences(text):
        opening = OPENINGS.match(sentence)
        if opening and not sentence.rstrip(")*_\"'").endswith("?"):
            yield f'a sentence begins with "{opening.group(1)}": name the actor first: {sentence[:60]}'
    plain = re.sub(r"`[^`]*`", "code", text)
    for pattern, instead in PHRASES:
        if found := pattern.search(plain):
            yield f'"{found.group()}": {instead}'


def long_sentences(text):
    for sentence in sentences(text):
        if (count := word_count(sentence)) > WORDS_MAX:
            yield f"a sentence of {count} words, {WORDS_MAX} at most: {sentence[:60]}"


def check_markdown(path, text):
    for number, paragraph in paragraphs(text):
        for problem in problems_of(paragraph):
            yield path, number, problem
        for problem in long_sentences(paragraph):
            yield path, number, problem


def descriptions(tree):
    """The summaries and descriptions in a JSON document."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key in ("summary", "description") and isinstance(value, str):
                yield value
            else:
                yield from descriptions(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from descriptions(value)


def check_json(path, text):
    lines = text.splitlines()
    for description in descriptions(json.loads(text)):
        quoted = json.dumps(description, ensure_ascii=False)
        number = next((number for number, line in enumerate(lines, 1) if quoted in line), 1)
        for problem in [*problems_of(description), *long_sentences(description)]:
            yield path, number, problem


def check_source(path, text):
    for number, comment in comments(text):
        for problem in problems_of(comment):
            yield path, number, problem
    for call in LOG_CALL.finditer(text):
        number = text.count("\n", 0, call.start()) + 1
        message = call.group(1)
        if opening := LOG_OPENINGS.match(message):
            yield path, number, f'a log message begins with "{opening.group()}": name the subject: {message[:60]}'
        for pattern, instead in PHRASES:
            if found := pattern.search(message):
                yield path, number, f'"{found.group()}" in a log message: {instead}'


def subjects_since(root, base):
    """Hashes and subjects of the commits after `base`; none where git does not know it."""
    done = subprocess.run(["git", "-C", str(root), "log", "--format=%h %s", f"{base}..HEAD"], capture_output=True, text=True)
    return [line.split(" ", 1) for line in done.stdout.splitlines()] if done.returncode == 0 else []


def problem_of_subject(subject):
    """What is wrong with the subject of a commit; None when it is good."""
    if len(subject) > SUBJECT_COLUMNS_MAX:
        return f"the subject has {len(subject)} columns, {SUBJECT_COLUMNS_MAX} at most"
    found = SUBJECT.match(subject)
    if not found:
        return "the subject is not `area: imperative verb ...`"
    if found.group(1) in NO_IMPERATIVES:
        return f'the subject begins with "{found.group(1)}", not with a verb'
    return None


def check(root, files):
    """All complaints about the words of the tree, as (path, line, text)."""
    complaints = []
    for path in files:
        if path.endswith(".md"):
            complaints += check_markdown(path, (root / path).read_text(errors="replace"))
        elif path.startswith("docs/") and path.endswith(".json"):
            complaints += check_json(path, (root / path).read_text(errors="replace"))
        elif path.endswith((".h", ".cc")):
            complaints += check_source(path, (root / path).read_text(errors="replace"))
    for commit, subject in subjects_since(root, SUBJECTS_SINCE):
        if problem := problem_of_subject(subject):
            complaints.append(("commit " + commit, 1, f"{problem}: {subject}"))
    return sorted(complaints)
