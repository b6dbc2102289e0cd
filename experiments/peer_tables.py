"""The tables of small/ and tables/ as their documentation describes them: what is predicted in each, and which columns hold labels.

The files have turned most labels into integers.  nade guesses the types of columns from the file; the peers are told them.
"""
from table_splits import list_tables, read_rows

# The usual target, and the columns of labels beside it; review has no usual target, and its last column is taken.
NUMBERS = {"airfoil": "c5", "review": "Category 10"}
CLASSES = {"blood": "whether he/she donated blood in March 2007", "credit": "c15", "obesity": "NObeyesdad", "yeast": "c8", "letter": "c0",
           "spam": "c57", "magic": "class", "shoppers": "Revenue", "default": "default.payment.next.month"}
LABELS = {"credit": ["c0", "c3", "c4", "c5", "c6", "c8", "c9", "c11", "c12"],
          "obesity": ["Gender", "family_history_with_overweight", "FAVC", "CAEC", "SMOKE", "SCC", "CALC", "MTRANS"],
          "shoppers": ["Month", "OperatingSystems", "Browser", "Region", "TrafficType", "VisitorType", "Weekend"],
          "default": ["SEX", "EDUCATION", "MARRIAGE"]}
# From the smallest to the largest, so that a run that is stopped has done as many as it can.
ORDER = ["credit", "blood", "review", "yeast", "airfoil", "obesity", "spam", "shoppers", "magic", "letter", "default"]


def target_of(name):
    return NUMBERS.get(name) or CLASSES[name]


def is_class(name):
    return name in CLASSES


def label_columns(name):
    """All columns of labels, the target among them where it is one."""
    return LABELS.get(name, []) + ([CLASSES[name]] if is_class(name) else [])


def find_tables(data, wanted):
    """{name: file} of the tables that are known here, in ORDER."""
    found = {name: files[0] for name, files in list_tables(data).items() if name in ORDER}
    for name in wanted or []:
        if name not in found:
            raise SystemExit(f"there is no table {name} in {data}, expected one of {', '.join(name for name in ORDER if name in found)}")
    return {name: found[name] for name in ORDER if name in (wanted or found)}


def read_frame(path, name):
    """A data frame: labels as text, numbers as floats."""
    import pandas as pd
    names, rows = read_rows(path)
    return as_frame(pd.DataFrame(rows, columns=names), name)


def as_frame(texts, name):
    """A frame of texts with the columns of numbers as floats; empty cells are missing."""
    import pandas as pd
    labels = set(label_columns(name))
    return pd.DataFrame({column: texts[column].where(texts[column] != "") if column in labels else pd.to_numeric(texts[column])
                         for column in texts})


def make_coder(name, columns, scaled=True):
    """What turns a frame with these columns into features: numbers, in deviations of the rows it is fitted to, and labels one-hot."""
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    labels = [column for column in label_columns(name) if column in columns]
    numbers = [column for column in columns if column not in labels]
    return make_column_transformer((StandardScaler() if scaled else "passthrough", numbers),
                                   (OneHotEncoder(handle_unknown="ignore", sparse_output=False), labels))
