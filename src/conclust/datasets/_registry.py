"""The data sets of the papers as a table: sizes, files, OpenML ids, what the papers state.

The data themselves are not shipped. The table is, so that a file or a download can be checked
wherever it comes from.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

PAPERS = {
    "BCKM": "M. Okabe and S. Yamada, Clustering by Learning Constraints Priorities, ICDM 2012",
    "CoTraining": "M. Okabe and S. Yamada, Clustering with Extended Constraints by Co-Training, "
    "WI-IAT 2012",
    "GeneralizedKMeans": "S. Miyamoto and H. Kondoh, Generalizations of K-Means Algorithms for "
    "Constrained Clustering, IJCSIA 4(1), 2014",
    "BoostCluster": "Y. Liu, R. Jin and A. K. Jain, BoostCluster: Boosting Clustering by Pairwise "
    "Constraints, KDD 2007",
    "ReCon": "E. Y. Liu, Z. Zhang and W. Wang, Clustering with Relative Constraints, KDD 2011",
}

UCI = "UCI Machine Learning Repository"


@dataclass(frozen=True)
class Stated:
    """What one paper says about a set: its name there and its sizes, None where it is silent."""

    paper: str  # a key of PAPERS
    called: str
    n: int | None = None
    d: int | None = None
    classes: int | None = None

    def __str__(self) -> str:
        sizes = {"rows": self.n, "features": self.d, "classes": self.classes}
        said = [f"{size} {what}" for what, size in sizes.items() if size is not None]
        return ", ".join([f'"{self.called}"', *said])


@dataclass(frozen=True)
class Dataset:
    """One data set: what it must look like, and where it may come from."""

    name: str
    d: int | tuple[int, ...] | None  # one number per view; None: running text
    sizes: Mapping[str, int]  # label -> number of rows, in the order labels sort
    files: tuple[str, ...] = ()  # their checksums are in _files.SHA256
    layout: str = "table"  # how the files are read: a key of _files.READERS
    views: tuple[str, ...] = ()  # in the order of the data files; empty: one table
    parts: tuple[str, ...] = ()  # the sets this one is made from; empty: stored itself
    dtype: str = "float64"
    openml: int | None = None
    stated: tuple[Stated, ...] = ()
    origin: str = UCI
    meaning: Mapping[str, str] = field(default_factory=dict)  # label -> words
    remark: str = ""

    @property
    def n(self) -> int:
        return sum(self.sizes.values())

    @property
    def classes(self) -> int:
        return len(self.sizes)

    @property
    def width(self) -> str:
        """The number of features as text: "4", "3000 + 1840" or "text"."""
        if self.d is None:
            return "text"
        return str(self.d) if isinstance(self.d, int) else " + ".join(map(str, self.d))


def _equal(labels: Iterable[str], size: int) -> dict[str, int]:
    return dict.fromkeys(labels, size)


def _listed(labels: Iterable[str], *sizes: int) -> dict[str, int]:
    return dict(zip(labels, sizes, strict=True))


_DIGITS = "0123456789"
_SEGMENTS = ("BRICKFACE", "CEMENT", "FOLIAGE", "GRASS", "PATH", "SKY", "WINDOW")
_HANDWRITTEN = (Stated("BoostCluster", "handwrittendigit", 4000, 256, 10),)
_MONK = (Stated("GeneralizedKMeans", "MONK"),)
_WEBKB = (Stated("CoTraining", "WebKB Co-training", 1051, None, 2),)
_MFEAT = "The same 2000 digits in the same order in all six views."

_TABLE = (
    Dataset(
        "iris",
        4,
        _equal(("setosa", "versicolor", "virginica"), 50),
        files=("iris.csv.gz",),
        openml=61,
        stated=(Stated("BCKM", "iris", 150, 4, 3), Stated("ReCon", "Iris", 150, 4, 3)),
        origin="R. A. Fisher (1936), as shipped with scikit-learn",
        remark="Fisher's values; the UCI file differs in two rows, see iris_uci.",
    ),
    Dataset(
        "iris_uci",
        4,
        _equal(("setosa", "versicolor", "virginica"), 50),
        files=("iris_uci.csv.gz",),
        stated=(Stated("BCKM", "iris", 150, 4, 3), Stated("ReCon", "Iris", 150, 4, 3)),
        remark="The UCI values: rows 35 and 38 differ from Fisher's paper.",
    ),
    Dataset(
        "wine",
        13,
        _listed("123", 59, 71, 48),
        files=("wine.csv.gz",),
        openml=187,
        stated=(Stated("BCKM", "wine", 178, 13, 3), Stated("ReCon", "Wine", 178, 13, 3)),
    ),
    Dataset(
        "wdbc",
        30,
        {"B": 357, "M": 212},
        files=("wdbc.csv.gz",),
        openml=1510,
        stated=(Stated("BCKM", "wdbc", 569, 30, 2), Stated("BoostCluster", "wdbc", 569, 30, 2)),
        meaning={"B": "benign", "M": "malignant"},
    ),
    Dataset(
        "parkinsons",
        22,
        {"0": 48, "1": 147},
        files=("parkinsons.csv.gz",),
        openml=1488,
        stated=(Stated("BCKM", "parkinsons", 195, 23, 2),),
        meaning={"0": "healthy", "1": "Parkinson's"},
        remark="22 features; 23 counts the recording name or the class.",
    ),
    Dataset(
        "sonar",
        60,
        {"M": 111, "R": 97},
        files=("sonar.csv.gz",),
        openml=40,
        stated=(Stated("BCKM", "sonar", 208, 60, 2),),
        meaning={"M": "mine", "R": "rock"},
    ),
    Dataset(
        "segmentation_210",
        19,
        _equal(_SEGMENTS, 30),
        files=("segmentation_210.csv.gz",),
        stated=(Stated("BCKM", "segmentation", 210, 19, 7),),
        remark="The UCI training part. region_pixel_count is constant.",
    ),
    Dataset(
        "segmentation_2310",
        19,
        _equal(_SEGMENTS, 330),
        files=("segmentation_2310.csv.gz",),
        openml=36,
        stated=(Stated("BoostCluster", "segmentation", 2310, 19, 7),),
        remark="Training part (210 rows), then test part (2100); every training row is also in the "
        "test part, 224 rows are exact duplicates. region_pixel_count is constant.",
    ),
    Dataset(
        "glass",
        9,
        _listed("123567", 70, 76, 17, 13, 9, 29),
        files=("glass.csv.gz",),
        openml=41,
        stated=(Stated("BCKM", "glass", 214, 10, 6),),
        meaning={
            "1": "building windows, float",
            "2": "building windows, non-float",
            "3": "vehicle windows, float",
            "5": "containers",
            "6": "tableware",
            "7": "headlamps",
        },
        remark="9 features; 10 counts the id, which is the row number and leaks the class "
        "(see glass_10).",
    ),
    Dataset(
        "ionosphere",
        34,
        {"b": 126, "g": 225},
        files=("ionosphere.csv.gz",),
        openml=59,
        stated=(
            Stated("BCKM", "ionosphere", 351, 34, 2),
            Stated("ReCon", "Ionosphere", 351, 34, 2),
        ),
        meaning={"b": "bad", "g": "good"},
        remark="The second feature (V2) is constant.",
    ),
    Dataset(
        "balance",
        4,
        {"B": 49, "L": 288, "R": 288},
        files=("balance.csv.gz",),
        openml=11,
        stated=(
            Stated("BCKM", "balance", 625, 4, 3),
            Stated("BoostCluster", "scale", 625, 4, 3),
        ),
        meaning={"B": "balanced", "L": "tips to the left", "R": "tips to the right"},
        remark="Follows from its rule: make_balance_scale needs no file.",
    ),
    Dataset(
        "vowel",
        10,
        _equal((*_DIGITS, "10"), 90),
        files=("vowel.csv.gz",),
        openml=307,
        stated=(Stated("BoostCluster", "vowel", 990, 10, 11),),
        meaning=dict(
            zip(
                (*_DIGITS, "10"),
                ("hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed"),
                strict=True,
            )
        ),
        remark="UCI vowel-context without its train/test, speaker and sex columns.",
    ),
    Dataset(
        "usps",
        256,
        _listed(_DIGITS, 1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821),
        files=("usps.csv.gz",),
        openml=41082,
        stated=_HANDWRITTEN,
        origin='USPS digits, as distributed with "The Elements of Statistical Learning"',
        remark="A candidate for handwrittendigit, not the rows of the paper. Rows 1-7291 are the "
        "training part.",
    ),
    Dataset(
        "usps_roweis",
        256,
        _equal(_DIGITS, 1100),
        files=("usps_roweis.csv.gz",),
        stated=_HANDWRITTEN,
        origin="USPS digits, S. Roweis's file usps_all.mat",
        remark="A candidate for handwrittendigit, not the rows of the paper. Sorted by digit.",
    ),
    Dataset(
        "semeion",
        256,
        _listed(_DIGITS, 161, 162, 159, 159, 161, 159, 161, 158, 155, 158),
        files=("semeion.csv.gz",),
        openml=1501,
        stated=_HANDWRITTEN,
        remark="The digits of UCI with 256 (binary) attributes, but 1593 of them.",
    ),
    Dataset(
        "handwrittendigit",
        256,
        _equal(_DIGITS, 400),
        parts=("usps_roweis",),
        stated=_HANDWRITTEN,
        origin="USPS digits, S. Roweis's file usps_all.mat",
        remark="A stand-in of the right size: the first 400 images per digit of usps_roweis. "
        "The rows of the paper are unknown.",
    ),
    Dataset(
        "pendigits",
        16,
        _listed(_DIGITS, 1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055),
        files=("pendigits.csv.gz",),
        openml=32,
        remark="Rows 1-7494 are the UCI training part. The papers use digits389 and pendigits3689.",
    ),
    Dataset(
        "digits389",
        16,
        _equal("389", 1055),
        parts=("pendigits",),
        stated=(Stated("ReCon", "Digits-389", 3165, 16, 3),),
        remark="The digits 3, 8 and 9 of pendigits.",
    ),
    Dataset(
        "pendigits3689",
        16,
        _listed("3689", 1055, 1056, 1055, 1055),
        parts=("pendigits",),
        stated=(Stated("BoostCluster", "pendigit", 4396, 16, 4),),
        remark="The digits 3, 6, 8 and 9 of pendigits have 4221 rows; 4396 is the size of other "
        "choices of four digits, so the stated classes and the stated count do not fit together.",
    ),
    Dataset(
        "transfusion",
        4,
        {"0": 570, "1": 178},
        files=("transfusion.csv.gz",),
        openml=1464,
        stated=(Stated("ReCon", "Transfusion", 748, 5, 2),),
        meaning={"0": "did not donate in March 2007", "1": "donated"},
        remark="4 features; 5 counts the class. monetary_cc is 250 times frequency_times.",
    ),
    Dataset(
        "letter",
        16,
        _listed(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
            *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
        ),
        files=("letter.csv.gz",),
        openml=6,
        remark="The paper uses letters_ijlt.",
    ),
    Dataset(
        "letters_ijlt",
        16,
        _listed("IJLT", 755, 747, 761, 796),
        parts=("letter",),
        stated=(Stated("ReCon", "Letters-IJLT", 3059, 16, 4),),
        remark="The letters I, J, L and T of letter.",
    ),
    Dataset(
        "glass_10",
        10,
        _listed("123567", 70, 76, 17, 13, 9, 29),
        parts=("glass",),
        stated=(Stated("BCKM", "glass", 214, 10, 6),),
        remark="glass with the row number 1..214 as first feature. That this is the paper's tenth "
        "attribute is an assumption; it leaks the class.",
    ),
    Dataset(
        "monks1_full",
        6,
        _equal("01", 216),
        files=("monks1_full.csv.gz",),
        openml=333,
        stated=_MONK,
        remark="All 432 combinations (the UCI test file); make_monks(1) needs no file. The paper "
        "does not say which MONK problem: we take this one. OpenML's set may join both parts.",
    ),
    Dataset(
        "monks1_train",
        6,
        _equal("01", 62),
        files=("monks1_train.csv.gz",),
        remark="The UCI training file.",
    ),
    Dataset(
        "monks2_full",
        6,
        {"0": 290, "1": 142},
        files=("monks2_full.csv.gz",),
        openml=334,
        stated=_MONK,
        remark="All 432 combinations (the UCI test file); make_monks(2) needs no file. KEEL's "
        '"monk-2" is monks3_full. OpenML\'s set joins both parts.',
    ),
    Dataset(
        "monks2_train",
        6,
        {"0": 105, "1": 64},
        files=("monks2_train.csv.gz",),
        remark="The UCI training file.",
    ),
    Dataset(
        "monks3_full",
        6,
        {"0": 204, "1": 228},
        files=("monks3_full.csv.gz",),
        openml=335,
        stated=_MONK,
        remark="All 432 combinations (the UCI test file); make_monks(3) needs no file. OpenML's "
        "set may join both parts.",
    ),
    Dataset(
        "monks3_train",
        6,
        {"0": 62, "1": 60},
        files=("monks3_train.csv.gz",),
        remark="The UCI training file; 6 of its 122 labels are noise.",
    ),
    Dataset(
        "webkb_course",
        None,
        {"course": 230, "non-course": 821},
        files=("webkb_course.csv.gz",),
        layout="texts",
        views=("fulltext", "inlinks"),
        stated=_WEBKB,
        origin="A. Blum and T. Mitchell, COLT 1998",
        remark="Raw pages (HTML) and the text of the links to them; three pages have no link text, "
        "three repeat the full text of another.",
    ),
    Dataset(
        "webkb",
        (16127, 1737),
        {"course": 230, "non-course": 821},
        views=("fulltext", "inlinks"),
        parts=("webkb_course",),
        stated=_WEBKB,
        origin="A. Blum and T. Mitchell, COLT 1998",
        remark="webkb_course after the paper's steps: tags, symbols and stop words removed, then "
        "tf-idf. The paper gives no word list and no sizes; every word of two or more letters is "
        "kept, without scikit-learn's English stop words.",
    ),
    Dataset(
        "webkb_course_tfidf",
        (3000, 1840),
        {"course": 230, "non-course": 821},
        files=(
            "webkb_course_tfidf_view1_pages.npz",
            "webkb_course_tfidf_view2_links.npz",
            "webkb_course_tfidf_labels.csv.gz",
        ),
        layout="views",
        views=("pages", "links"),
        origin="A. Blum and T. Mitchell, COLT 1998; matrices of a public multi-view collection",
        remark="The pages of webkb_course in the same order, weighted by others; the words are not "
        "given.",
    ),
    Dataset(
        "mfeat_fac",
        216,
        _equal(_DIGITS, 200),
        files=("mfeat_fac.csv.gz",),
        openml=12,
        remark=f"Profile correlations. {_MFEAT}",
    ),
    Dataset(
        "mfeat_fou",
        76,
        _equal(_DIGITS, 200),
        files=("mfeat_fou.csv.gz",),
        openml=14,
        remark=f"Fourier coefficients of the character shapes. {_MFEAT}",
    ),
    Dataset(
        "mfeat_kar",
        64,
        _equal(_DIGITS, 200),
        files=("mfeat_kar.csv.gz",),
        openml=16,
        remark=f"Karhunen-Loeve coefficients. {_MFEAT}",
    ),
    Dataset(
        "mfeat_mor",
        6,
        _equal(_DIGITS, 200),
        files=("mfeat_mor.csv.gz",),
        openml=18,
        remark=f"Morphological features. {_MFEAT}",
    ),
    Dataset(
        "mfeat_pix",
        240,
        _equal(_DIGITS, 200),
        files=("mfeat_pix.csv.gz",),
        openml=20,
        remark=f"Pixel averages in 2 x 3 windows. {_MFEAT}",
    ),
    Dataset(
        "mfeat_zer",
        47,
        _equal(_DIGITS, 200),
        files=("mfeat_zer.csv.gz",),
        openml=22,
        remark=f"Zernike moments. {_MFEAT}",
    ),
    Dataset(
        "mfeat",
        (216, 76, 64, 6, 240, 47),
        _equal(_DIGITS, 200),
        views=("fac", "fou", "kar", "mor", "pix", "zer"),
        parts=("mfeat_fac", "mfeat_fou", "mfeat_kar", "mfeat_mor", "mfeat_pix", "mfeat_zer"),
        remark="The six views as one multi-view set.",
    ),
    Dataset(
        "3sources",
        (3560, 3631, 3068),
        _listed(
            ("business", "entertainment", "health", "politics", "sport", "technology"),
            *(56, 21, 11, 18, 51, 12),
        ),
        files=(
            "3sources_view1_bbc.npz",
            "3sources_view2_guardian.npz",
            "3sources_view3_reuters.npz",
            "3sources_labels.csv.gz",
        ),
        layout="views",
        views=("bbc", "guardian", "reuters"),
        origin="D. Greene and P. Cunningham, 3sources; matrices of a public multi-view collection",
        remark="The stories reported by all three sources, as term counts; topic names given to "
        "the numbers 1-6 in alphabetical order.",
    ),
    Dataset(
        "bbcsport",
        (3183, 3203),
        _listed(("athletics", "cricket", "football", "rugby", "tennis"), *(62, 104, 193, 124, 61)),
        files=(
            "bbcsport_view1.npz",
            "bbcsport_view2.npz",
            "bbcsport_labels.csv.gz",
        ),
        layout="views",
        views=("segment1", "segment2"),
        origin="D. Greene and P. Cunningham, BBCSport; matrices of a public multi-view collection",
        remark="The two-segment version, as term counts; sport names given to the numbers 1-5 in "
        "alphabetical order.",
    ),
    Dataset(
        "mnist",
        784,
        _listed(_DIGITS, 6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
        files=("mnist.npz",),
        layout="images",
        dtype="uint8",
        openml=554,
        origin="Y. LeCun, C. Cortes and C. Burges",
        remark="For tests of scale; grey values 0-255 kept as uint8. Rows 1-60000 are the training "
        "part.",
    ),
    Dataset(
        "covtype",
        54,
        _listed("1234567", 211840, 283301, 35754, 2747, 9493, 17367, 20510),
        files=("covtype.npz",),
        layout="cover",
        dtype="int16",
        openml=1596,
        remark="For tests of scale; kept as int16. Ten measurements, four wilderness areas and "
        "forty soil types as zeros and ones.",
    ),
)

DATASETS = {dataset.name: dataset for dataset in _TABLE}

# Other names in use: the papers', UCI's, OpenML's, scikit-learn's. A name that could mean two sets
# ("segmentation", "pendigit", "monk") is left out; the error then lists both.
ALIASES = {
    "balance_scale": "balance",
    "scale": "balance",
    "bbc_sport": "bbcsport",
    "blood_transfusion": "transfusion",
    "blood_transfusion_service_center": "transfusion",
    "breast_cancer": "wdbc",
    "breast_cancer_wisconsin": "wdbc",
    "covertype": "covtype",
    "digits_389": "digits389",
    "pendigits_389": "digits389",
    "handwrittendigit_4000": "handwrittendigit",
    "image_segmentation": "segmentation_2310",
    "segment": "segmentation_2310",
    "letters": "letter",
    "letter_recognition": "letter",
    "mnist_784": "mnist",
    "monks1": "monks1_full",
    "monks2": "monks2_full",
    "monks3": "monks3_full",
    "monks_problems_1": "monks1_full",
    "monks_problems_2": "monks2_full",
    "monks_problems_3": "monks3_full",
    "multiple_features": "mfeat",
    "parkinson": "parkinsons",
    "three_sources": "3sources",
    "usps_all": "usps_roweis",
    "webkb_cotraining": "webkb",
}
