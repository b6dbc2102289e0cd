"""Figures that are kept in a JSON file as they come, and the part of a page that is written from them."""
import json


def read_results(path):
    return json.loads(path.read_text()) if path.exists() else {}


def write_results(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_suffix(".part")
    written.write_text(json.dumps(results, indent=1) + "\n")
    written.replace(path)


def fill_page(page, command, text):
    """The page with the text between the markers of the command."""
    begin, end = (f"<!-- {word}: written by {command} -->\n" for word in ("begin", "end"))
    head, rest = page.read_text().split(begin)
    return head + begin + "\n" + text + "\n" + end + rest.split(end)[1]


def check_page(page, results, command, text):
    """The exit status: 1 where the page has not this text."""
    if page.read_text() == fill_page(page, command, text):
        return 0
    print(f"docs/{page.name} is not what {command} writes from experiments/results/{results.name}")
    return 1


def markdown(head, rows):
    return "\n".join(["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]) + "\n"
