"""The comparison itself: what it finds, what it forgives, and what it does not."""

import pathlib
import tempfile
import unittest

import difference
import normalise
import page
import recording
import talk

UUID = "01234567-89ab-cdef-0123-456789abcdef"


def steps(answer, request=None, ask="Metadata v12"):
    return [{"ask": ask, "request": request or {}, "answer": answer}]


def found(kafka, partita):
    return [str(one).splitlines()[0] for one in difference.compare("a/b", steps(kafka), steps(partita))]


class Differences(unittest.TestCase):
    def test_equal_answers_have_none(self):
        self.assertEqual(found({"A": [1, {"B": None}]}, {"A": [1, {"B": None}]}), [])

    def test_a_value_is_named_by_its_path(self):
        self.assertEqual(found({"Topics": [{"Name": "t", "ErrorCode": "NONE"}]},
                               {"Topics": [{"Name": "t", "ErrorCode": "CORRUPT_MESSAGE"}]}),
                         ["a/b#1 Metadata v12 Topics[t].ErrorCode"])

    def test_what_one_side_lacks_is_named_once(self):
        self.assertEqual(found({"Topics": [{"Name": "t", "Partitions": [1, 2]}]}, {"Topics": []}),
                         ["a/b#1 Metadata v12 Topics[0]"])

    def test_another_order_is_a_difference(self):
        self.assertEqual(found({"Topics": [{"Name": "a"}, {"Name": "b"}]}, {"Topics": [{"Name": "b"}, {"Name": "a"}]}),
                         ["a/b#1 Metadata v12 order of Topics"])

    def test_null_is_not_an_empty_list(self):
        self.assertEqual(len(found({"Topics": None}, {"Topics": []})), 1)

    def test_silence_is_not_an_answer(self):
        self.assertEqual(len(found("no answer", {"ErrorCode": "NONE"})), 1)

    def test_another_course_ends_the_comparison(self):
        other = difference.compare("a/b", steps({}, ask="Fetch v4"), steps({}, ask="Fetch v5"))
        self.assertEqual([one.place for one in other], ["a/b#1 takes another course"])

    def test_a_changed_script_is_told_from_a_changed_answer(self):
        changed = difference.compare("a/b", steps({}, {"MaxBytes": 1}), steps({}, {"MaxBytes": 2}))
        self.assertEqual([one.place for one in changed], ["a/b#1 Metadata v12 asks otherwise: MaxBytes"])


class Times(unittest.TestCase):
    """An answer that comes at another time is a difference, whatever it says."""

    OVER = "when its wait is over"

    def steps(self, *times):
        return [{**steps({}, ask="Fetch v4")[0], **({"when": when} if when else {})} for when in times]

    def test_another_time_is_a_difference(self):
        other = difference.compare("a/b", self.steps(self.OVER, None), self.steps(None, None))
        self.assertEqual([(one.place, one.kafka, one.partita) for one in other],
                         [("a/b#1 Fetch v4 is answered", self.OVER, "at once")])
        self.assertTrue(difference.keeps_time(self.steps(None, self.OVER), self.steps(None, self.OVER)))
        self.assertFalse(difference.keeps_time(self.steps(None, self.OVER), self.steps(self.OVER, None)))

    def test_a_recording_tells_the_times_that_are_not_at_once(self):
        with tempfile.TemporaryDirectory() as directory:
            told = {"a/b": self.steps(None, self.OVER, "when something comes", None, None)}
            recording.save("a", told, pathlib.Path(directory))
            self.assertEqual(recording.load("a", pathlib.Path(directory)), told)

    def test_the_longest_wait_is_what_the_request_names(self):
        for fields, seconds in (({"MaxWaitMs": 1500}, 1.5), ({"TimeoutMs": 999}, 0), ({"Acks": 0, "TimeoutMs": 5000}, 0), ({}, 0),
                                ({"Acks": -1, "TimeoutMs": 5000}, 5), ({"SessionTimeoutMs": 9000, "RebalanceTimeoutMs": 2000}, 2)):
            self.assertEqual(talk.longest_wait(fields), seconds, fields)


class AnsweredAt:
    """A pending request that was answered after some seconds."""

    def __init__(self, took, wait, waited=False):
        self.step, self.longest_wait, self.has_waited, self.seen_at = {"ask": "Fetch v4"}, wait, waited, None
        self.sent_at, self.answered_at = 100, 100 + took


class TimesOfAnswers(unittest.TestCase):
    def noted(self, *pending):
        one = talk.Talk("localhost", 1, "a")
        answered = AnsweredAt(*pending)
        one._note_time(answered)
        return answered.step.get("when", "at once"), len(one.missed)

    def test_they_have_a_class_by_their_wait(self):
        self.assertEqual(self.noted(0.3, 1), ("at once", 0))
        self.assertEqual(self.noted(1.01, 1), ("when its wait is over", 0))
        self.assertEqual(self.noted(0.5, 20, True), ("when something comes", 0))
        self.assertEqual(self.noted(20.0, 20, True), ("when its wait is over", 0))
        self.assertEqual(self.noted(30, 0), ("at once", 0))

    def test_one_in_between_is_missed(self):
        self.assertEqual(self.noted(0.7, 1), ("after 0.7 s, and it may wait 1.0 s", 1))


class Reasons(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.directory.name) / "known.toml"
        self.path.write_text("[[difference]]\nseen = ['a/b#* Topics[*].ErrorCode kafka: \"X\" *', 'never/seen*']\n")

    def tearDown(self):
        self.directory.cleanup()

    def test_a_pattern_explains_what_it_matches_and_nothing_else(self):
        known = difference.Known(self.path)
        self.assertTrue(known.explains(difference.Difference("a/b#7 Fetch v4 Topics[t].ErrorCode", '"X"', '"Y"')))
        self.assertFalse(known.explains(difference.Difference("a/b#7 Fetch v4 Topics[t].ErrorCode", '"Z"', '"Y"')))
        self.assertFalse(known.explains(difference.Difference("a/c#7 Fetch v4 Topics[t].ErrorCode", '"X"', '"Y"')))

    def test_a_reason_that_explains_nothing_is_reported(self):
        self.assertIn("never/seen*", difference.Known(self.path).unused())

    def test_an_entry_without_a_reason_is_a_fault(self):
        self.assertEqual(page.faults([{"section": "on purpose", "what": "w", "kafka": "k", "partita": "p"}]),
                         ["entry 1 (w) has no `why`"])


class Normalised(unittest.TestCase):
    def setUp(self):
        self.normaliser = normalise.Normaliser(("clusterclusterclustercl", "127.0.0.1"), 9999)

    def answer(self, message, values):
        return self.normaliser.message(message, values)

    def test_the_same_id_has_the_same_label_and_another_has_another(self):
        ids = ["AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg", "AAAAAAAAAAAAAAAAAAAAAQ"]
        topics = self.answer("DeleteTopicsRequest", {"Topics": [{"TopicId": each} for each in ids]})["Topics"]
        self.assertEqual([topic["TopicId"] for topic in topics], ["<id 1>", "<id 2>", "<id 1>"])

    def test_member_ids_within_texts_are_named(self):
        self.assertEqual(self.normaliser.text(f"client-{UUID} left"), "<member 1> left")

    def test_errors_are_shown_by_name(self):
        self.assertEqual(self.answer("HeartbeatResponse", {"ErrorCode": 27}), {"ErrorCode": "REBALANCE_IN_PROGRESS"})

    def test_a_port_of_somebody_else_stays(self):
        brokers = self.answer("MetadataResponse", {"Brokers": [{"Port": 9999}, {"Port": 1}]})["Brokers"]
        self.assertEqual([broker["Port"] for broker in brokers], ["<port>", 1])

    def test_a_time_of_another_year_stays(self):
        self.assertEqual(self.normaliser.text("1000000000000 is long ago"), "1000000000000 is long ago")


class Recordings(unittest.TestCase):
    def test_what_was_saved_is_read_back(self):
        transcripts = {"m/one": [*steps({"A": ["ü", None]}, {"B": 1}), {"note": "it waits"}], "m/two": steps("no answer")}
        with tempfile.TemporaryDirectory() as directory:
            recording.save("m", transcripts, pathlib.Path(directory))
            self.assertEqual(recording.load("m", pathlib.Path(directory)), transcripts)


if __name__ == "__main__":
    unittest.main()
