"""The name that git gives to a folder's contents, found without git: the machine with the device may not have any."""
import hashlib


def object_hash(kind, content):
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content)


def tree_hash(folder):
    """What `git rev-parse COMMIT:FOLDER` says where the folder holds the files of that commit and no others."""
    entries = []
    for path in folder.iterdir():
        if path.is_dir():
            entries.append((path.name + "/", "40000", path.name, bytes.fromhex(tree_hash(path))))
        else:
            mode = "100755" if path.stat().st_mode & 0o100 else "100644"
            entries.append((path.name, mode, path.name, object_hash("blob", path.read_bytes()).digest()))
    listed = b"".join(f"{mode} {name}\0".encode() + digest for _, mode, name, digest in sorted(entries))
    return object_hash("tree", listed).hexdigest()
