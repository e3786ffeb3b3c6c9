-- The usage of a day that is closed is final. Whoever writes usage waits for one who closes a day: it holds this row.
CREATE FUNCTION usage_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM recorded WHERE task = 'hours' FOR SHARE;
    IF TG_OP <> 'INSERT' AND EXISTS (SELECT FROM closed_days WHERE day = OLD.day) THEN
        RAISE restrict_violation USING MESSAGE = format('The usage of %s is final.', OLD.day);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.day <= (SELECT max(day) FROM closed_days) THEN
        RAISE restrict_violation USING MESSAGE = format('The usage of %s is final.', NEW.day);
    END IF;
    RETURN coalesce(NEW, OLD);
END
$$;

CREATE TRIGGER usage_is_final BEFORE INSERT OR UPDATE OR DELETE ON usage_days
FOR EACH ROW EXECUTE FUNCTION usage_is_final();

CREATE TRIGGER slot_peak_is_final BEFORE INSERT OR UPDATE OR DELETE ON slot_peaks
FOR EACH ROW EXECUTE FUNCTION usage_is_final();
