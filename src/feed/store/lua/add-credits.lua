--[[ add-credits: adds what rows of histories say about records, and drops what is older or more than wanted.
  Atomic because: of two processes that add rows about one record, neither may lose those of the other.
  A client that lost the answer sends the command again; a row that is there twice says the same.
  KEYS 1 credits · 2 credited    ARGV 1 now in ms · 2 ms that a record is kept · 3 most records · 4 most rows of a record · n × (record, row in JSON)
  RETURN {"added", records kept}    Cost O(rows added + records dropped). Never calls TIME. ]]
for i = 5, #ARGV, 2 do
  local rows = redis.call('HGET', KEYS[1], ARGV[i])
  rows = rows and (rows .. '\n' .. ARGV[i + 1]) or ARGV[i + 1]
  local _, breaks = string.gsub(rows, '\n', '')
  if breaks >= tonumber(ARGV[4]) then rows = string.sub(rows, string.find(rows, '\n', 1, true) + 1) end
  redis.call('HSET', KEYS[1], ARGV[i], rows)
  redis.call('ZADD', KEYS[2], ARGV[1], ARGV[i])
end

local function drop(records)
  for _, record in ipairs(records) do
    redis.call('HDEL', KEYS[1], record)
    redis.call('ZREM', KEYS[2], record)
  end
end
drop(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. (tonumber(ARGV[1]) - tonumber(ARGV[2]))))
drop(redis.call('ZRANGE', KEYS[2], 0, -1 - tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return { 'added', redis.call('ZCARD', KEYS[2]) }
